"""Hiding tokens: shares as asked for, whole words or none, markers never, and the same draw for the same seed."""

import numpy as np
import pytest
import torch

from clearformer.data.masking import MaskedBatch, Masking, by_word, hide
from clearformer.text.assemble import with_mask
from clearformer.text.train_tokenizer import train

WORDS = ["snow", "snowing", "dogs", "dog", "playing", "played", "naïve", "cats", "the", "in"]
TEXTS = [" ".join(WORDS[(place + step) % 10] for step in range(8 * place + 4)) for place in range(10)]


@pytest.fixture(scope="module")
def tokenizer():
    return with_mask(train("bpe", ["dog cat snow"] * 3, 370))


@pytest.fixture(scope="module")
def masking(tokenizer):
    return Masking(tokenizer)


@pytest.fixture(scope="module")
def rows(tokenizer):
    return [np.array(ids) for ids in tokenizer.ids(TEXTS * 20)]


def test_tokens_are_hidden_as_often_as_asked_and_shown_in_three_ways(masking, rows):
    batch = masking.draw(rows, (1, 2, 3))
    shown, chosen = hide(batch, rate=0.15, masked=0.8, swapped=0.1, whole_words=False)
    places = int((batch.lots < 1).sum())
    assert int(chosen.sum()) / places == pytest.approx(0.15, abs=0.01)
    as_mask = (shown == masking.mask) & chosen
    left = (shown == batch.ids) & chosen
    assert int(as_mask.sum() / chosen.sum() * 100) == pytest.approx(80, abs=5)
    assert int(left.sum() / chosen.sum() * 100) == pytest.approx(10, abs=4)
    assert torch.equal(shown[~chosen], batch.ids[~chosen])


@pytest.mark.parametrize("whole_words", [True, False])
def test_markers_and_padding_are_never_hidden_nor_shown_instead(masking, rows, tokenizer, whole_words):
    batch = masking.draw(rows, (7,))
    shown, chosen = hide(batch, rate=1.0, masked=0.5, swapped=0.5, whole_words=whole_words)
    special = torch.tensor(sorted(tokenizer.special_ids.values()))
    assert torch.equal(chosen, batch.keep & ~torch.isin(batch.ids, special))
    assert not torch.isin(batch.others, special).any()
    assert (shown[~batch.keep] == tokenizer.pad_id).all()


def test_of_a_word_all_pieces_are_hidden_or_none(masking, rows):
    batch = masking.draw(rows, (5,))
    _, chosen = hide(batch, rate=0.2, masked=0.8, swapped=0.1, whole_words=True)
    split = 0
    for ids, hidden, keep in zip(batch.ids.numpy(), chosen.numpy(), batch.keep.numpy(), strict=True):
        words = np.cumsum(masking.starts(ids))
        for word in np.unique(words[keep]):
            assert len(set(hidden[words == word])) == 1
            split += (words == word).sum() > 1
    assert split > 100  # the vocabulary does cut words
    _, pieces = hide(batch, rate=0.2, masked=0.8, swapped=0.1, whole_words=False)
    assert not torch.equal(chosen, pieces)


def test_every_row_has_something_to_find(masking, rows):
    batch = masking.draw(rows, (3,))
    for whole_words in (True, False):
        _, chosen = hide(batch, rate=1e-6, masked=0.8, swapped=0.1, whole_words=whole_words)
        assert (chosen.sum(dim=1) >= 1).all()


def test_a_row_of_markers_alone_has_nothing_to_find(masking, tokenizer):
    batch = masking.draw([np.array([tokenizer.bos_id, tokenizer.eos_id])], (1,))
    shown, chosen = hide(batch, rate=0.5, masked=0.8, swapped=0.1, whole_words=False)
    assert not chosen.any()
    assert torch.equal(shown, batch.ids)


def test_without_a_seed_a_row_alone_is_hidden_as_in_a_batch(masking, rows):
    together = masking.draw(rows[:5], ())
    for place, row in enumerate(rows[:5]):
        alone = masking.draw([row], ())
        assert torch.equal(together.lots[place, : len(row)], alone.lots[0])
        assert torch.equal(together.word_lots[place, : len(row)], alone.word_lots[0])
    assert (together.fates == 0).all()
    assert (together.directions > 1).all()


def test_seeds_decide_everything(masking, rows):
    def flat(batch: MaskedBatch):
        return [batch.lots, batch.word_lots, batch.fates, batch.others, batch.directions]

    one, same, other = (flat(masking.draw(rows[:4], seed)) for seed in ((1, 5), (1, 5), (1, 6)))
    assert all(map(torch.equal, one, same))
    assert not any(map(torch.equal, one, other))


def test_a_batch_can_be_shared_out(masking, rows):
    batch = masking.draw(rows[:6], (1,))
    parts = batch.split(2)
    assert [len(part) for part in parts] == [3, 3]
    assert torch.equal(torch.cat([part.lots for part in parts]), batch.lots)
    assert {part.mask for part in parts} == {masking.mask}


def test_a_word_has_the_lot_of_its_first_piece():
    lots = np.array([0.1, 0.2, 0.3, 0.4], dtype=np.float32)
    assert by_word(lots, np.array([True, False, True, False])).tolist() == lots[[0, 0, 2, 2]].tolist()
