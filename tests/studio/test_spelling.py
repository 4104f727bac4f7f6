"""Tokens as people read them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as Engine
from tokenizers import decoders, models, pre_tokenizers, trainers

from clearformer.studio.spelling import spell
from clearformer.text.special import SpecialTokens
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.train_tokenizer import train


def test_a_space_before_a_word_is_kept_and_marks_its_start(tokenizer):
    tokens = spell(tokenizer, tokenizer.ids(["the dog"], add_special=False)[0])
    assert "".join(token["text"] for token in tokens) == " the dog"
    assert tokens[0]["starts"]


def test_a_split_character_is_bytes_that_know_their_character(tokenizer):
    tokens = spell(tokenizer, tokenizer.ids(["狗"], add_special=False)[0])
    parts = [token for token in tokens if token["kind"] == "bytes"]
    assert [part["text"] for part in parts] == ["E7", "8B", "97"]
    assert {part["whole"] for part in parts} == {"狗"}


def test_half_a_character_stays_bytes(tokenizer):
    ids = [
        token["id"]
        for token in spell(tokenizer, tokenizer.ids(["狗"], add_special=False)[0])
        if token["kind"] == "bytes"
    ]
    assert "whole" not in spell(tokenizer, ids[:2])[0]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 399), max_size=12))
def test_no_token_is_ever_shown_as_a_replacement_character(tokenizer, ids):
    for token in spell(tokenizer, ids):
        assert "\ufffd" not in token["text"]
        assert token["text"] != ""


def test_byte_level_pieces_are_shown_as_text_or_bytes():
    """GPT-2 writes bytes as stand-in characters: "Ġ" for a space, "ä½ł" for 你."""
    engine = Engine(models.BPE())
    engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    engine.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<|end|>"])
    engine.train_from_iterator(["the dog the dog"], trainer)
    tokenizer = Tokenizer.from_engine(engine, kind="bpe", special=SpecialTokens(eos="<|end|>"))
    tokens = spell(tokenizer, tokenizer.ids(["the dog 你"], add_special=False)[0])
    assert [token["text"] for token in tokens[:2]] == ["the", " dog"]
    assert [token["text"] for token in tokens if token["kind"] == "bytes"] == ["E4", "BD", "A0"]
    assert tokens[-1]["whole"] == "你"


def test_word_pieces_keep_their_mark():
    tokenizer = train("wordpiece", ["playing plays played"] * 5, 130)
    tokens = spell(tokenizer, tokenizer.ids(["plays"], add_special=True)[0])
    assert tokens[0]["kind"] == "special"
    assert all(token["starts"] != token["text"].startswith("##") for token in tokens)


@pytest.mark.parametrize("ids", [[], [0, 5]])
def test_without_a_tokenizer_numbers_are_shown(ids):
    assert [token["text"] for token in spell(None, ids)] == [str(number) for number in ids]
