"""Damage by hand: what is hidden, deleted, moved; what is written; and that the same draw gives the same damage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.data.corruption import (
    SENTINEL,
    Corruption,
    CorruptionConfig,
    delete_tokens,
    infill,
    permute_sentences,
    put_back,
    random_spans,
    replace_spans,
    sentence_ends,
    sentinel_ids,
)
from clearformer.text.assemble import with_mask, with_pieces
from clearformer.text.train_tokenizer import train

MASK = 99
SENTINELS = np.arange(100, 140)


class Loaded:
    """Dice that fall as somebody says; a permutation that is not said is the order itself."""

    def __init__(self, *, poisson=(), permutations=()):
        self.lengths, self.orders = list(poisson), list(permutations)

    def poisson(self, mean):
        return self.lengths.pop(0)

    def permutation(self, of):
        given_order = self.orders.pop(0) if self.orders else None
        items = np.arange(of) if isinstance(of, int) else np.array(of)
        return items if given_order is None else items[given_order]


def test_bart_s_infilling_by_hand():
    """Of ten tokens three are hidden: a span of two, one of none and one of one, behind 1, 3 and 7 that stay."""
    dice = Loaded(poisson=[2, 0, 1], permutations=[[1, 3, 7, 0, 2, 4, 5, 6], None])
    found = infill(np.arange(10), MASK, rate=0.3, mean=3.0, random=dice)
    #               stays 0, hidden 1 2, stay 3 4, nothing hidden, stay 5 6 7 8, hidden 9
    assert found.tolist() == [0, MASK, 3, 4, MASK, 5, 6, 7, 8, MASK]


def test_t5_s_span_corruption_by_hand():
    """The example of the paper's figure 2: Thank you for inviting me to your party last week."""
    words = ["Thank", "you", "for", "inviting", "me", "to", "your", "party", "last", "week", "."]
    read, written = replace_spans(np.arange(11), [(2, 4), (8, 9)], SENTINELS)

    def spell(ids):
        return " ".join(words[one] if one < 11 else "XYZ"[one - 100] for one in ids)

    assert spell(read) == "Thank you X me to your party Y week ."
    assert spell(written) == "X for inviting Y last Z"
    assert put_back(read, written, SENTINELS) == list(range(11))
    assert put_back(read, [], SENTINELS) == [0, 1, 4, 5, 6, 7, 9, 10]  # nothing written leaves the gaps empty


def test_sentences_change_places_and_stay_whole():
    ids, ends = np.array([1, 2, 9, 3, 9, 4]), np.array([0, 0, 1, 0, 1, 0], dtype=bool)
    assert permute_sentences(ids, ends, Loaded(permutations=[[2, 0, 1]])).tolist() == [4, 1, 2, 9, 3, 9]


def test_deleted_tokens_leave_no_trace():
    random = np.random.default_rng(1)
    left = delete_tokens(np.arange(1000), 0.2, random)
    assert 750 < len(left) < 850
    assert (np.diff(left) > 0).all()
    assert delete_tokens(np.array([5]), 0.9, np.random.default_rng(0)).tolist() == [5]


@given(length=st.integers(1, 80), rate=st.floats(0.05, 0.9), mean=st.floats(1, 9), seed=st.integers(0, 99))
def test_infilling_hides_its_share_and_keeps_the_order(length, rate, mean, seed):
    found = infill(np.arange(length), MASK, rate=rate, mean=mean, random=np.random.default_rng(seed))
    stays = found[found != MASK]
    assert len(stays) == length - min(round(rate * length), length)
    assert (np.diff(stays) > 0).all()
    assert not ((found[1:] == MASK) & (found[:-1] == MASK)).any()
    assert len(found) <= CorruptionConfig().lengths(length)[0]


@given(length=st.integers(1, 80), rate=st.floats(0.05, 0.9), mean=st.floats(1, 9), seed=st.integers(0, 99))
def test_span_corruption_can_be_undone_and_fits_its_bounds(length, rate, mean, seed):
    config = CorruptionConfig(kind="span-corruption", rate=rate, mean_span=mean)
    spans = random_spans(config.hidden(length), config.spans(length), length, np.random.default_rng(seed))
    assert sum(end - begin for begin, end in spans) == config.hidden(length)
    sentinels = np.arange(100, 100 + config.sentinels(length))
    read, written = replace_spans(np.arange(length), spans, sentinels)
    assert put_back(read, written, sentinels) == list(range(length))
    assert (len(read), len(written)) <= config.lengths(length)
    assert len(read) <= config.lengths(length)[0]
    assert len(written) <= config.lengths(length)[1]


@pytest.fixture(scope="module")
def tokenizer():
    return train("bpe", ["two dogs play in the snow. the cat sleeps!"] * 5, 320)


def test_the_same_draw_gives_the_same_damage(tokenizer):
    config = CorruptionConfig(rate=0.3, delete=0.1, permute=True)
    damage = Corruption(with_mask(tokenizer), config)
    ids = np.array(tokenizer.ids(["two dogs play. the cat sleeps! in the snow."], add_special=False)[0])
    first, again, other = (damage(ids, np.random.default_rng(seed)) for seed in ((7, 1), (7, 1), (7, 2)))
    assert first[0].tolist() == again[0].tolist() != other[0].tolist()
    assert first[1].tolist() == ids.tolist()


def test_sentinels_are_no_text(tokenizer):
    more = with_pieces(tokenizer, [SENTINEL.format(n) for n in range(3)])
    assert sentinel_ids(more).tolist() == [tokenizer.vocab_size + n for n in range(3)]
    assert sentinel_ids(tokenizer).tolist() == []
    spelt = more.ids(["<extra_id_0>"], add_special=False)[0]
    assert not set(spelt) & set(sentinel_ids(more).tolist())
    assert more.decode(spelt) == "<extra_id_0>"


def test_sentences_end_where_a_sign_says_so(tokenizer):
    ends = sentence_ends(tokenizer)
    assert ends[tokenizer.id(".")]
    assert not ends[tokenizer.eos_id]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rate": 0.0}, "rate is a share"),
        ({"delete": 1.0}, "delete is a share"),
        ({"mean_span": 0.5}, "mean_span is between"),
        ({"kind": "span-corruption", "permute": True}, "belong to infilling"),
    ],
)
def test_what_makes_no_sense_is_refused(values, message):
    with pytest.raises(ValueError, match=message):
        CorruptionConfig(**values)


def test_too_few_sentinels_are_refused():
    with pytest.raises(ValueError, match="2 spans need 3 sentinels"):
        replace_spans(np.arange(9), [(0, 1), (3, 4)], SENTINELS[:2])
