"""Networks for experiments: the same bits for the same wish, trained once, and resumed when killed."""

import pytest
import torch
from torch import nn

from clearformer.lab.comparison import TRANSLATION, WRITING
from clearformer.lab.trained_networks import LOSSES, Wanted, train_wanted
from clearformer.model.weights import weights_of
from clearformer.training.loop import Loop

SHORT = ("training.steps=6", "training.save_every=2", "training.batch_tokens=128", "scoring.examples=5")


def halve(model: nn.Module) -> None:
    with torch.no_grad():
        for weight in model.parameters():
            weight /= 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("lab")


def wanted(**choices):
    return Wanted(recipe=TRANSLATION, changes=SHORT, **choices)


def same(one, other):
    mine, theirs = weights_of(one.model), weights_of(other.model)
    return mine.keys() == theirs.keys() and all(torch.equal(mine[name], theirs[name]) for name in mine)


def test_a_wish_is_trained_once(folder):
    first = train_wanted(wanted(), folder)
    made = {file: file.stat().st_mtime_ns for file in folder.rglob(LOSSES)}
    again = train_wanted(wanted(), folder)
    assert {file: file.stat().st_mtime_ns for file in folder.rglob(LOSSES)} == made
    assert len(made) == 1
    assert same(first, again)
    assert len(first.losses) == 6
    assert first.losses == again.losses
    assert not list(folder.rglob("checkpoints"))


def test_a_run_that_was_killed_resumes_and_ends_with_the_same_bits(folder, monkeypatch):
    whole, advance = train_wanted(wanted(seed=1), folder / "whole"), Loop.advance

    def killed(loop, watch):
        if loop.training.progress.step == 3:
            raise KeyboardInterrupt
        advance(loop, watch)

    monkeypatch.setattr(Loop, "advance", killed)
    with pytest.raises(KeyboardInterrupt):
        train_wanted(wanted(seed=1), folder / "killed")
    monkeypatch.setattr(Loop, "advance", advance)
    torch.rand(7)
    resumed = train_wanted(wanted(seed=1), folder / "killed")
    assert same(whole, resumed)
    assert whole.losses == resumed.losses


def test_whatever_it_depends_on_is_in_the_key():
    def key(one):
        return one.key(one.read())

    keys = [
        key(wanted()),
        key(wanted(seed=1)),
        key(wanted(adjust=halve)),
        key(Wanted(recipe=TRANSLATION, changes=(*SHORT, "model.dim=32"))),
        key(Wanted(recipe=WRITING, changes=SHORT[:-1])),
    ]
    assert len(set(keys)) == len(keys)
    assert key(wanted()) == keys[0]


def test_the_fresh_network_can_be_changed(folder):
    usual, halved = train_wanted(wanted(), folder), train_wanted(wanted(adjust=halve), folder)
    assert not same(usual, halved)
    assert usual.losses[0] != halved.losses[0]


def test_what_it_scores(folder):
    network = train_wanted(wanted(), folder)
    scores = network.scores()
    assert scores["loss"] == pytest.approx(network.loss())
    assert 4 < scores["loss"] < 10
    assert scores["bleu"] >= 0
    writer = train_wanted(Wanted(recipe=WRITING, changes=SHORT[:-1]), folder)
    assert set(writer.scores()) == {"loss"}
    assert writer.parameters == sum(one.numel() for one in writer.model.parameters())
