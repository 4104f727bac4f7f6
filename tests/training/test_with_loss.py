"""The loss runs inside forward, so that whatever wraps a model sees all of the work: hooks, compilation, sharding."""

from functools import partial

import numpy as np
import pytest
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor

from clearformer.data.collate import collate_pairs
from clearformer.model.build import build
from clearformer.model.families import transformer
from clearformer.model.layers import DecoderLayer, EncoderLayer
from clearformer.tasks.next_token import NextTokenObjective
from clearformer.tasks.next_token import loss as translation_loss
from clearformer.training.loop import WithLoss
from clearformer.training.loss import Loss
from training.toy import Spelling, make_loop

VOCABULARY = 40


def translator() -> WithLoss:
    """A translator of two layers, always the same one, with a vocabulary that is tied to its output."""
    torch.manual_seed(3)
    model = build(transformer(vocab_size=VOCABULARY, dim=16, hidden_dim=24, layers=2, heads=2))
    return WithLoss(model, partial(translation_loss, objective=NextTokenObjective()))


def batch_at(place):
    generator = np.random.default_rng(place)
    rows = [tuple(generator.integers(4, VOCABULARY, generator.integers(2, 9)) for _ in range(2)) for _ in range(5)]
    return collate_pairs(rows, pad=0, bos=1, eos=2)


def learn(model, steps=6):
    """The losses of a few steps; dropout is drawn from the place."""
    optimiser, losses = torch.optim.AdamW(model.parameters(), lr=0.01), []
    for place in range(steps):
        torch.manual_seed(place)
        found = model(batch_at(place))
        assert isinstance(found, Loss)
        found.total.backward()
        optimiser.step()
        optimiser.zero_grad()
        losses.append(float(found.total.detach()) / found.count)
    return losses


def test_a_hook_sees_the_batch_and_the_loss(tmp_path):
    spelling, seen = Spelling(), []
    loop = make_loop(tmp_path, spelling, steps=3, accumulate=2)
    loop.with_loss.register_forward_hook(lambda module, given, made: seen.append((given, made)))
    loop.run()
    assert len(seen) == 6
    for place, ((batch,), made) in enumerate(seen):
        assert torch.equal(batch[0], spelling.batch_at(place)[0])
        assert isinstance(made, Loss)
        assert made.count == batch[0][:, 1:].numel()


def test_its_weights_are_the_model_s_own(tmp_path):
    """What is saved has the names of the model, without those of the wrapping."""
    loop = make_loop(tmp_path, steps=1)
    loop.run()
    assert list(loop.with_loss.parameters()) == list(loop.training.model.parameters())
    assert {
        name.removeprefix("model.") for name in loop.with_loss.state_dict()
    } == loop.training.model.state_dict().keys()


def test_a_compiled_step_learns_the_same():
    compiled = torch.compile(translator(), backend="eager")
    assert learn(compiled) == pytest.approx(learn(translator()), rel=1e-5)


@pytest.fixture
def mesh():
    """One rank, with itself for company."""
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield init_device_mesh("cpu", (1,))
    dist.destroy_process_group()


@pytest.mark.parametrize("by_layer", [False, True])
def test_sharded_weights_learn_the_same(mesh, by_layer):
    """FSDP2 gathers weights when a wrapped module's forward begins and lets go of them when it ends: a loss that read
    the vocabulary's table outside would find a shard of it.
    """
    sharded = translator()
    if by_layer:
        for layer in [m for m in sharded.modules() if isinstance(m, EncoderLayer | DecoderLayer)]:
            fully_shard(layer, mesh=mesh)
    fully_shard(sharded, mesh=mesh)
    assert all(isinstance(parameter, DTensor) for parameter in sharded.parameters())
    assert learn(sharded) == pytest.approx(learn(translator()), rel=1e-5)
