"""Hidden words: each once, with all its pieces, and the sum over them as the plain model gives it."""

import numpy as np
import pytest
import torch

from clearformer.data.masking import Masking
from clearformer.inference.hidden_words import PASSES, find_hidden, read_forward
from clearformer.inference.word_filler import WordFiller
from clearformer.run.recipe import parse_recipe
from flows.tiny_tasks import prose
from run.assembled import assemble

MODEL = {"family": "bert", "dim": 16, "hidden_dim": 32, "layers": 1, "max_len": 64, "attention": {"heads": 2}}


@pytest.fixture(scope="module")
def filler(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words")
    (folder / "prose.txt").write_text(prose(60), encoding="utf-8")
    data = {"train": "prose.txt", "max_length": 40, "vocabulary": {"kind": "bpe", "vocab_size": 380}}
    return WordFiller(assemble(parse_recipe({"task": "masked-words", "data": data, "model": MODEL}, "m"), folder).made)


@pytest.fixture(scope="module")
def rows(filler):
    return [np.array(ids) for ids in filler.tokenizer.ids([*prose(12, seed=3).splitlines(), "a dogsnow sees catbirds"])]


def test_every_word_is_counted_once_and_every_piece(filler, rows):
    masking = Masking(filler.tokenizer)
    for row, found in zip(rows, find_hidden(filler, rows), strict=True):
        hideable = masking.hideable[row]
        assert len(found.nats) == len(found.right) == (masking.starts(row) & hideable).sum()
        assert found.pieces == hideable.sum()
    assert any(len(found.nats) < found.pieces for found in find_hidden(filler, rows))  # words of several pieces


def test_a_lone_word_has_the_sum_over_its_pieces_with_all_of_them_hidden(filler):
    [row] = filler.tokenizer.ids(["dogsnow"])
    inner = row[1:-1]
    assert len(inner) > 1
    [found] = find_hidden(filler, [np.array(row)])
    shown = torch.tensor([[row[0], *[filler.mask] * len(inner), row[-1]]])
    with torch.no_grad():
        log_probs = filler.model(shown).log_softmax(-1)[0, 1:-1]
    assert found.nats.tolist() == pytest.approx([-float(log_probs.gather(-1, torch.tensor(inner)[:, None]).sum())])


def test_neither_the_batch_nor_the_neighbours_change_a_figure(filler, rows):
    together = find_hidden(filler, rows, batch=50)
    for row, found in zip(rows, together, strict=True):
        [alone] = find_hidden(filler, [row], batch=1)
        np.testing.assert_allclose(alone.nats, found.nats, rtol=1e-4)


def test_one_pass_is_a_part_of_all(filler, rows):
    quick, whole = find_hidden(filler, rows, passes=1), find_hidden(filler, rows)
    for few, every in zip(quick, whole, strict=True):
        assert len(few.nats) == -(-len(every.nats) // PASSES)
        assert all(np.isclose(every.nats, value, rtol=1e-4).any() for value in few.nats)


def test_read_forward_is_the_chain_of_next_tokens(filler, rows):
    total, count = read_forward(filler, rows, batch=5)
    assert count == sum(len(row) - 1 for row in rows)
    expected = 0.0
    for row in rows:
        for end in range(1, len(row)):  # nothing behind a token is given at all
            with torch.no_grad():
                logits = filler.model(torch.tensor([row[:end].tolist()]), causal=torch.tensor([True]))
            expected -= float(logits[0, -1].log_softmax(-1)[int(row[end])])
    assert total == pytest.approx(expected, rel=1e-4)


def test_a_row_without_words_has_no_figures(filler):
    [found] = find_hidden(filler, [np.array(filler.tokenizer.ids([""])[0])])
    assert (len(found.nats), found.pieces) == (0, 0)
