"""A decoder alone and an encoder alone behind the interface of an encoder–decoder."""

import pytest
import torch

from clearformer.lab.one_stack import become_decoder, become_encoder
from clearformer.model.build import build
from clearformer.model.families import transformer

SOURCE = torch.tensor([[5, 6, 7, 8], [9, 5, 0, 0]])
KEEP = SOURCE > 0
TARGET = torch.tensor([[1, 5, 6, 7, 8], [1, 9, 8, 7, 6]])


@pytest.fixture(params=[become_decoder, become_encoder])
def changed(request):
    model = build(transformer(vocab_size=12, dim=16, hidden_dim=32, layers=2, decoder_layers=1, heads=2)).eval()
    request.param(model)
    return model


@torch.no_grad()
def test_a_row_does_not_depend_on_its_padding(changed):
    together = changed(SOURCE, TARGET, source_keep=KEEP)
    alone = changed(SOURCE[1:, :2], TARGET[1:])
    assert torch.allclose(together[1], alone[0], atol=1e-5)


@torch.no_grad()
def test_no_place_knows_what_comes_after_it(changed):
    other = TARGET.clone()
    other[:, 3] = 11
    before, after = (changed(SOURCE, target, source_keep=KEEP) for target in (TARGET, other))
    assert torch.allclose(before[:, :3], after[:, :3], atol=1e-6)
    moved = (before[:, 3:] - after[:, 3:]).abs().max().item()
    assert (moved < 1e-6) == changed.decoder.blank  # an encoder alone does not know what it writes elsewhere


@torch.no_grad()
def test_written_step_by_step_it_is_the_same(changed):
    memory, cache = changed.encode(SOURCE, keep=KEEP), changed.start_cache()
    steps = [changed.decode(TARGET[:, place : place + 1], memory, cache=cache) for place in range(TARGET.size(1))]
    assert torch.allclose(torch.cat(steps, dim=1), changed(SOURCE, TARGET, source_keep=KEEP), atol=1e-5)
    swapped = cache.select(torch.tensor([1, 0]))
    assert torch.equal(swapped.tokens, TARGET.flip(0))


def test_the_source_is_seen_from_one_side_or_both(changed):
    source = SOURCE[:1].clone()
    table = changed.encoder.front.embed.weight
    states = changed.decoder(TARGET[:1, :1], changed.encode(source))
    [gradient] = torch.autograd.grad(states.square().sum(), table)
    assert (gradient[source[0]].abs().sum(-1) > 0).all()  # the last word of the source counts, and so does the first
