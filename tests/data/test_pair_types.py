import pytest

from clearformer.data.pair_types import OVERLAP_TYPES, pair_types
from clearformer.text.train_tokenizer import train


@pytest.fixture(scope="module")
def tokenizer():
    return train("wordpiece", ["红 花 在 哪里 开", "two dogs play"] * 5, 200)


def test_segments_are_the_tokenizer_s(tokenizer):
    pair = tokenizer.encode_pair("two dogs", "dogs play")
    assert pair_types(pair) == list(pair.types)


def test_what_both_texts_have_is_told_on_both_sides(tokenizer):
    pair = tokenizer.encode_pair("two dogs", "dogs play")
    types = pair_types(pair, overlap=True, markers=tokenizer.special_ids.values())
    told = {(tokenizer.piece(one), kind) for one, kind in zip(pair.ids, types, strict=True)}
    assert {("dogs", 2), ("dogs", 3), ("two", 0), ("play", 1)} <= told
    assert {kind for piece, kind in told if piece.startswith("[")} <= {0, 1}
    assert max(types) < OVERLAP_TYPES


def test_a_marker_that_both_have_tells_nothing(tokenizer):
    pair = tokenizer.encode_pair("two", "play")
    assert max(pair_types(pair, overlap=True, markers=tokenizer.special_ids.values())) < 2
