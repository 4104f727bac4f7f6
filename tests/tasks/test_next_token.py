"""The loss of the next token: the same with a head that copies as from its probabilities, and refused with R-Drop."""

import numpy as np
import pytest
import torch

from clearformer.data.collate import collate_pairs
from clearformer.folder.preprocessing import Preprocessing
from clearformer.model.build import build
from clearformer.model.config import HeadConfig
from clearformer.model.families import transformer
from clearformer.tasks import next_token
from clearformer.tasks.next_token import NextTokenObjective, ids_of, loss, sizes
from clearformer.text.train_tokenizer import train
from clearformer.training.loss import cross_entropy

SIZES = {"vocab_size": 30, "dim": 16, "hidden_dim": 32, "layers": 1, "heads": 2}
PAIRS = [(np.array([4, 5, 6]), np.array([7, 8])), (np.array([9, 10]), np.array([11]))]


def batch():
    return collate_pairs(PAIRS, pad=0, bos=1, eos=2)


@pytest.mark.parametrize("copy", [False, True])
def test_it_is_the_cross_entropy_of_what_the_model_says(copy):
    torch.manual_seed(1)
    model = build(transformer(**SIZES, head=HeadConfig(copy=copy))).eval()
    given = batch()
    found = loss(model, given, NextTokenObjective(smoothing=0.0))
    logits = model(given.source, given.target_in, source_keep=given.source_keep)[given.target_keep]
    wanted = torch.nn.functional.cross_entropy(logits, given.target_out[given.target_keep], reduction="sum")
    torch.testing.assert_close(found.total, wanted)
    assert found.count == 5  # three and two, their ends included
    torch.testing.assert_close(found.metrics["nll"], wanted.detach())


@pytest.mark.parametrize("at_a_time", [1, 4 * 30, 1 << 20])
def test_a_head_that_copies_learns_the_same_however_many_rows_are_looked_at_together(monkeypatch, at_a_time):
    torch.manual_seed(1)
    model = build(transformer(**SIZES, head=HeadConfig(copy=True))).eval()
    given = batch()
    weights = list(model.parameters())
    logits = model(given.source, given.target_in, source_keep=given.source_keep)
    whole = cross_entropy(logits, given.target_out, given.target_keep, smoothing=0.1)
    monkeypatch.setattr(next_token, "COPIED", at_a_time)
    found = loss(model, given, NextTokenObjective(smoothing=0.1))
    torch.testing.assert_close(found.total, whole.total)
    gradients = (torch.autograd.grad(one.total, weights, allow_unused=True) for one in (found, whole))
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)


def test_copying_and_r_drop_do_not_go_together():
    model = build(transformer(**SIZES, head=HeadConfig(copy=True))).train()
    with pytest.raises(ValueError, match=r"does not go with model\.head\.copy"):
        loss(model, batch(), NextTokenObjective(r_drop=1.0))


def test_one_vocabulary_or_two():
    one, two = (train("bpe", ["two dogs play"] * 5, size) for size in (300, 310))
    assert sizes(Preprocessing(tokenizer=one)) == {"vocab_size": one.vocab_size}
    both = sizes(Preprocessing(tokenizer=one, target_tokenizer=two))
    assert both == {"vocab_size": one.vocab_size, "target_vocab_size": two.vocab_size}
    [ids] = ids_of(one, ["two dogs"])
    assert one.decode(ids) == "two dogs"


@pytest.mark.parametrize("values", [{"smoothing": 1.0}, {"smoothing": -0.1}, {"r_drop": -1}])
def test_an_objective_is_checked(values):
    with pytest.raises(ValueError, match=f"objective.{next(iter(values))}"):
        NextTokenObjective(**values)
