"""Training with Transformer-XL's memory: the text in order, states from step to step, nothing of other texts."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import clearformer as cf
from clearformer.data.batching import BatchingConfig
from clearformer.inference.text_generator import TextGenerator
from clearformer.run import train
from clearformer.run.pace import seconds_per_step
from clearformer.run.recipe import read_recipe
from clearformer.tasks import language_model
from clearformer.tasks.language_model import NextToken
from clearformer.training.distributed import Ranks
from clearformer.training.loop import Loop
from clearformer.training.memory_forecast import forecast
from flows import killing
from flows.tiny_tasks import prose, write_remembering
from model.specimens import DIM, LAYERS, VOCAB, specimen
from parity.plain_transformer_xl import plain
from run.assembled import assemble


@pytest.fixture
def recipe(tmp_path):
    return read_recipe(write_remembering(tmp_path))


@pytest.fixture
def made(recipe, tmp_path):
    return assemble(recipe, tmp_path)


def loop_of(made, folder, **changes):
    config = replace(made.recipe.training, replicas=1, **changes)
    return Loop(made.made.model, made.parts(), config, lambda step: 0.003, folder, Ranks())


@pytest.mark.parametrize("memory", [3, 5, 40])
def test_loss_and_gradients_are_those_of_the_paper(memory):
    """Three segments of two rows beside a reading of the paper, one query and key at a time, the past without
    gradient: with 40 tokens of memory this is one long context through which no gradient flows back."""
    torch.manual_seed(3)
    model, text = specimen("transformer-xl"), torch.randint(VOCAB, (2, 13))
    weights = {name: value.detach().clone().requires_grad_() for name, value in model.state_dict().items()}
    memories, left = [[torch.zeros(0, DIM)] * LAYERS for _ in text], None
    for begin in (0, 4, 8):
        inputs, targets = text[:, begin : begin + 4], text[:, begin + 1 : begin + 5]
        batch = language_model.BlockBatch(
            inputs=inputs, targets=targets, keep=torch.ones_like(inputs).bool(), past=left, memory=memory
        )
        model.zero_grad(set_to_none=True)
        found = language_model.loss(model, batch, NextToken())
        found.total.backward()
        left = found.left
        expected = torch.zeros(())
        for row in range(2):
            logits, kept = plain(weights, inputs[row], memories[row], memory)
            memories[row] = [states.detach() for states in kept]
            expected = expected + F.cross_entropy(logits, targets[row], reduction="sum")
        torch.testing.assert_close(found.total, expected, rtol=1e-5, atol=1e-5)
        named = dict(model.named_parameters())
        gradients = torch.autograd.grad(expected, [weights[name] for name in named])
        for (name, parameter), gradient in zip(named.items(), gradients, strict=True):
            torch.testing.assert_close(
                parameter.grad, gradient, rtol=1e-4, atol=1e-5, msg=lambda m, n=name: f"{n}: {m}"
            )
    assert left.shape == (2, LAYERS, min(memory, 12), DIM)
    assert not left.requires_grad


def test_each_row_goes_on_where_it_stopped_with_what_it_left(made, tmp_path):
    loop = loop_of(made, tmp_path / "run", accumulate=2, steps=4, save_every=100, validate_every=100)
    seen = []
    usual = loop.parts.follow
    loop.parts = replace(
        loop.parts, follow=lambda batch, left, place: seen.append((place, left)) or usual(batch, left, place)
    )
    loop.run()
    assert [place for place, _ in seen] == list(range(1, 8))  # from micro-batch to micro-batch and step to step
    for place in range(1, 8):
        before, after = loop.parts.batch_at(place - 1), loop.parts.batch_at(place)
        assert torch.equal(before.targets[:, -1], after.inputs[:, 0])
    assert loop.training.left.shape == (len(after), 1, 24, 16)  # more than one segment is remembered


def test_an_epoch_begins_with_nothing_remembered(made):
    parts, left = made.parts(), torch.randn(8, 1, 24, 16)
    steps = made.prepared.order(config=batching(made), seed=1).steps_per_epoch
    assert steps > 2
    for place in (0, steps, 2 * steps):
        assert parts.follow(parts.batch_at(place), left, place).past is None
        assert parts.follow(parts.batch_at(place + 1), left, place + 1).past is left


def batching(made):
    return BatchingConfig(max_tokens=made.recipe.training.batch_tokens)


def test_replicas_remember_their_own_rows(made, tmp_path):
    """Two threads with half the rows each: the losses of one."""
    quiet = replace(
        made.recipe, model=made.recipe.model | {"dropout": {"embedding": 0.0, "residual": 0.0, "attention": 0.0}}
    )
    found = {}
    for replicas in (1, 2):
        again = assemble(quiet, tmp_path)
        config = replace(quiet.training, replicas=replicas, steps=6, save_every=100, validate_every=100)
        loop = Loop(again.made.model, again.parts(), config, lambda step: 0.003, tmp_path / str(replicas), Ranks())
        found[replicas] = [loop.update()[0] for _ in range(6)]
    assert found[2] == pytest.approx(found[1], abs=2e-5)


@pytest.mark.parametrize("stop", [3, 5])
def test_a_resumed_run_remembers(recipe, tmp_path, stop):
    """Stopped between two planned checkpoints: weights and memory are those of a run that was left alone."""
    whole = loop_of(assemble(recipe, tmp_path), tmp_path / "whole", steps=8)
    seconds_per_step(whole)  # a rehearsal leaves no trace
    whole.run()
    first = loop_of(assemble(recipe, tmp_path), tmp_path / "pieces", steps=8)
    while first.training.progress.step < stop:
        first.update()
    first.save()
    second = loop_of(assemble(recipe, tmp_path), tmp_path / "pieces", steps=8)
    assert second.resume() == stop
    second.run()
    for one, other in zip(second.training.model.parameters(), whole.training.model.parameters(), strict=True):
        assert torch.equal(one, other)
    assert torch.equal(second.training.left, whole.training.left)


@pytest.mark.slow
def test_a_killed_run_remembers(tmp_path):
    """Every file of two real processes, one killed while it was saving."""
    write_remembering(tmp_path)
    short = ("training.steps=12", "training.save_every=4", "training.validate_every=6", "training.log_every=1")
    killed = tmp_path / "killed"
    killing.kill_at_each(lambda: killing.start(tmp_path, killed, short), killed, [killing.saving(8)])
    for out in ("whole", "killed"):
        killing.finish(killing.start(tmp_path, tmp_path / out, short))
    assert (tmp_path / "whole" / "checkpoints" / "00000012" / "left.safetensors").exists()
    assert killing.differences(*(killing.result(tmp_path / out) for out in ("killed", "whole"))) == []


def test_what_an_unusable_batch_leaves_is_forgotten(made, tmp_path):
    loop = loop_of(made, tmp_path / "run", steps=4, save_every=2, bad_updates=2)
    usual = loop.parts.loss
    bad = []

    def loss(model, batch):
        found = usual(model, batch)
        return found._replace(total=found.total * torch.nan, left=found.left * torch.nan) if bad else found

    loop.with_loss._loss = loss
    loop.save()
    loop.update()
    assert loop.training.left is not None
    bad.append(True)
    loop.update()
    assert loop.training.left is None
    bad.clear()
    assert np.isfinite(loop.update()[0])
    bad.append(True)
    for _ in range(2):
        loop.update()
    assert (loop.training.progress.rollbacks, loop.training.left) == (1, None)


def test_the_development_loss_sees_what_would_be_remembered(made, recipe):
    """Every token of the development text is counted once, after the context and the memory before it."""
    dev, [stream] = made.prepared.dev, [made.prepared.dev[-1]]
    collate = language_model.collate(recipe.data, made.prepared.preprocessing)
    counted = [collate([block], ()) for block in dev]
    text = [int(batch.targets[0, place]) for batch in counted for place in batch.keep[0].nonzero()[:, 0]]
    tokenizer = made.made.tokenizer
    assert tokenizer.decode([int(dev[0][0]), *text]) == made.prepared.held[0]
    assert len(stream) == 16 + 24 + 1
    together = collate(dev, ())
    assert int(together.keep.sum()) == len(text)
    assert together.memory == 0


def test_a_trained_folder_evaluates_and_writes_with_its_memory(recipe, tmp_path):
    """One layer sees the memory and no further, so that a score is also that of one pass over memory and segment."""
    folder = train.train(recipe, tmp_path / "out", base=tmp_path)
    generator = cf.load(folder)
    assert isinstance(generator, TextGenerator)
    assert (generator.context, generator.memory) == (16, 24)
    ids = generator.encode(prose(4, seed=5))
    found = generator.likelihood(ids)
    assert (found.context, found.memory, found.read) == (16, 24, "context 16, memory 24")
    scores = np.concatenate(found.blocks)
    assert len(scores) == len(ids) - 1
    with torch.inference_mode():
        for place in (10, 20, 41, 57, 75):
            begin = max(0, (place - 1) // 16 * 16 - 24)
            said = generator.model(torch.tensor([ids[begin:place]])).log_softmax(-1)[0, -1]
            assert scores[place - 1] == pytest.approx(-float(said[ids[place]]), abs=1e-4)
    wide, whole, without = (
        generator.likelihoods([ids], **way)[""]
        for way in ({"memory": len(ids)}, {"memory": 0, "context": len(ids)}, {"memory": 0})
    )
    assert sum(map(sum, wide.blocks)) == pytest.approx(sum(map(sum, whole.blocks)), rel=1e-5)
    assert without.read == "context 16, stride 8"
    text = generator.generate("the", temperature=0.0, max_new=90)
    written = [token.token for token in generator.choices(generator.encode("the"), temperature=0.0, max_new=90)]
    past, state = generator.encode("the"), None
    assert generator.tokenizer.decode(written).startswith(text[:40])
    with torch.inference_mode():
        for step, token in enumerate(written):
            if step in (0, 30, 50, 89):
                state = generator.model.start_segment_memory(24)
                for segment in torch.tensor([[*past, *written[:step]]]).split(16, dim=1):
                    logits = generator.model(segment, segment_memory=state)
                allowed = logits[0, -1].clone()
                allowed[[generator.tokenizer.pad_id]] = -torch.inf
                assert allowed[token] == pytest.approx(float(allowed.max()), abs=1e-4)


def test_a_prompt_may_be_of_any_length_and_samples_are_those_written_alone(made):
    made.made.provenance["memory"] = 24
    generator = TextGenerator(made.made)
    prompt = prose(12, seed=2)
    assert len(generator.encode(prompt)) > 200
    together = generator.continuations(prompt, samples=2, seed=3, temperature=1.0, max_new=30)
    alone = generator.continuations(prompt, samples=1, seed=4, temperature=1.0, max_new=30)
    assert together[1].text == alone[0].text


@pytest.mark.parametrize("place", [5, 20, 50])
def test_the_future_never_changes_the_past(made, place):
    made.made.provenance["memory"] = 24
    generator = TextGenerator(made.made)
    ids = generator.encode(prose(4, seed=5))
    other = [*ids[:place], ids[place] % 5 + 5, *ids[place + 1 :]]
    other[place] += other[place] == ids[place]
    before, after = (np.concatenate(generator.likelihood(row).blocks) for row in (ids, other))
    assert np.array_equal(before[: place - 1], after[: place - 1])
    assert before[place - 1] != after[place - 1]


def test_the_forecast_counts_what_is_remembered(recipe, tmp_path):
    """Keys and values of a full memory are there for the backward pass, from the second batch on."""
    found = {}
    for memory in (1, 24, 48):
        made = assemble(replace(recipe, data=replace(recipe.data, memory=memory)), tmp_path)
        loop = loop_of(made, tmp_path / str(memory))
        before = [parameter.clone() for parameter in loop.training.model.parameters()]
        found[memory] = forecast(loop).activations
        assert all(map(torch.equal, before, loop.training.model.parameters()))
    assert found[1] * 1.5 < found[24]
    assert found[24] * 1.3 < found[48]


def test_what_cannot_be_remembered_is_refused(recipe, tmp_path):
    with pytest.raises(ValueError, match=r"data\.memory is a number of tokens, at least 0, not -1"):
        replace(recipe.data, memory=-1)
    apart = replace(recipe, data=replace(recipe.data, separator="\\n"))
    with pytest.raises(ValueError, match="documents must not see one another; take 0"):
        assemble(apart, tmp_path)
    learned = assemble(replace(recipe, model=recipe.model | {"position": {"kind": "learned"}, "max_len": 64}), tmp_path)
    parts = learned.parts()
    with pytest.raises(ValueError, match=r"data\.memory needs positions that are distances"):
        parts.loss(learned.made.model, parts.batch_at(0))
    with pytest.raises(ValueError, match="leave the stride out"):
        TextGenerator(learned.made).likelihoods([[1, 2, 3]], memory=8, stride=2)
    with pytest.raises(ValueError, match="this model's are learned; take a memory of 0"):
        TextGenerator(learned.made).likelihoods([[1, 2, 3]], memory=8)
