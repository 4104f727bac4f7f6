"""The data plan and the loss of a task, as the loop is given them."""

from dataclasses import replace

import pytest
import torch

from clearformer.run.recipe import read_recipe
from clearformer.training.distributed import Ranks
from clearformer.training.loop import Loop
from clearformer.training.loss import cross_entropy
from flows.numbers import write_recipe
from run.assembled import assemble


@pytest.fixture
def recipe(tmp_path):
    return read_recipe(write_recipe(tmp_path))


def test_an_epoch_shows_every_pair_once_and_the_largest_batch_first(recipe, tmp_path):
    made = assemble(recipe, tmp_path)
    parts, corpus, pad = made.parts(), made.prepared.train, made.made.tokenizer.pad_id
    batches, rows = [], 0
    while rows < len(corpus):
        batches.append(parts.batch_at(len(batches)))
        rows += len(batches[-1].source)
    assert rows == len(corpus) == 600
    sizes = [batch.source.numel() * max(batch.source.size(1), batch.target_in.size(1)) for batch in batches]
    assert sizes[0] >= 0.9 * max(sizes)
    texts = {tuple(row[row != pad].tolist()) for batch in batches for row in batch.source}
    assert len(texts) == 600


def test_batches_are_a_pure_function_of_their_place(recipe, tmp_path):
    made = assemble(recipe, tmp_path)
    one, other = made.parts(), made.parts()
    for place in (0, 50, 3, 200, 50):
        assert torch.equal(one.batch_at(place).source, other.batch_at(place).source)
        assert torch.equal(one.batch_at(place).target_out, other.batch_at(place).target_out)


def test_a_ceiling_of_examples_is_kept(recipe, tmp_path):
    few = replace(recipe, training=replace(recipe.training, batch_examples=7))
    parts = assemble(few, tmp_path).parts()
    assert {len(parts.batch_at(place).source) for place in range(20)} <= set(range(1, 8))


def losses(recipe, folder, *, replicas, loss=None):
    """The first losses of a run."""
    made = assemble(recipe, folder)
    parts = made.parts() if loss is None else replace(made.parts(), loss=loss)
    config = replace(recipe.training, replicas=replicas, steps=12)
    loop = Loop(made.made.model, parts, config, lambda step: 0.002, folder / "run", Ranks())
    return [loop.update()[0] for _ in range(12)]


def readable_loss(model, batch):
    logits = model(batch.source, batch.target_in, source_keep=batch.source_keep)
    return cross_entropy(logits, batch.target_out, batch.target_keep, smoothing=0.1)


@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_the_fast_step_follows_the_readable_one(recipe, tmp_path, dropout):
    """All logits at once through the model's front door, or block by block: one loss curve."""
    sites = {"embedding": dropout, "residual": dropout}
    recipe = replace(recipe, model=recipe.model | {"dropout": sites})
    readable = losses(recipe, tmp_path, replicas=1, loss=readable_loss)
    assert losses(recipe, tmp_path, replicas=1) == pytest.approx(readable, abs=2e-4)
    if not dropout:  # each replica draws its own random bits
        assert losses(recipe, tmp_path, replicas=3) == pytest.approx(readable, abs=2e-4)
    assert readable[-1] < readable[0] - 0.5
