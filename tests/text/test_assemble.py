"""How text is split before pieces are looked up."""

import pytest

from clearformer.text.assemble import with_ends, with_mask, with_pieces, word_tokenizer, words
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.train_tokenizer import train


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (" Two dogs", [" Two", " dogs"]),
        (" don't l’homme", [" don't", " l’homme"]),
        ("dogs.", ["dogs", "."]),
        (" 1984", [" 1", "9", "8", "4"]),
        (" doesn &apos;t", [" doesn", " &apos;", "t"]),
        (" a @-@ b", [" a", " @-@", " b"]),
        ("a<pad>b", ["a", "<", "pad", ">", "b"]),
        ("a <b", ["a", " ", "<", "b"]),
        ("a   b", ["a", "  ", " b"]),
        ("a\t\n", ["a", "\t\n"]),
        ("हिन्दी", ["हिन्दी"]),
        ("机器学习。", ["机器学习", "。"]),
    ],
)
def test_words_are_split_where_the_rule_says(text, parts):
    assert [part for part, _ in words().pre_tokenize_str(text)] == parts


@pytest.mark.parametrize("kind", ["bpe", "unigram", "character", "byte", "word", "wordpiece"])
def test_every_kind_can_have_a_mask_and_keeps_its_other_numbers(kind, tmp_path):
    texts = ["two dogs play in the snow"] * 3
    before = train(kind, texts, 400, min_frequency=1)
    tokenizer = with_mask(before)
    assert tokenizer.piece(tokenizer.special_id("mask")) == "[MASK]"
    assert tokenizer.vocab_size == before.vocab_size + (kind != "wordpiece")
    assert tokenizer.ids(texts) == before.ids(texts)
    assert with_mask(tokenizer) == tokenizer
    tokenizer.save(tmp_path / "t.json")
    assert Tokenizer.load(tmp_path / "t.json", tokenizer.facts()) == tokenizer


@pytest.mark.parametrize("kind", ["bpe", "unigram", "character", "byte"])
def test_where_text_comes_back_exactly_it_still_does_with_a_mask(kind):
    tokenizer = with_mask(train(kind, ["two dogs"] * 3, 400))
    text = "write [MASK] or <eos> here"
    assert tokenizer.decode(tokenizer.encode(text).ids) == text


def test_words_are_what_stands_between_spaces():
    tokenizer = word_tokenizer(["<pad>", "<bos>", "<eos>", "<unk>", "dogs", "@-@", "."])
    assert tokenizer.encode(" dogs  @-@ cats . <unk>").ids == (1, 4, 5, 3, 6, 3, 2)
    assert tokenizer.decode([1, 4, 5, 6, 2]) == "dogs @-@ ."
    assert with_mask(tokenizer).encode("dogs [MASK] .", add_special=False).ids == (4, 7, 6)


def test_bert_s_markers_can_stand_at_the_ends_of_what_is_written():
    """The ids of a text stay the same; a vocabulary that has its own ends keeps them."""
    bert = train("wordpiece", ["two dogs play"] * 5, 120)
    ended = with_ends(bert)
    assert (ended.bos_id, ended.eos_id) == (bert.special_id("cls"), bert.special_id("sep"))
    assert ended.ids(["two dogs"]) == bert.ids(["two dogs"])
    own = train("bpe", ["two dogs play"] * 5, 300)
    assert with_ends(own) is own


def test_more_pieces_are_no_text():
    own = train("bpe", ["two dogs play"] * 5, 300)
    more = with_pieces(own, ["<x>", "<y>"])
    assert more.vocab_size == own.vocab_size + 2
    assert more.ids(["two <x> dogs"], add_special=False) == own.ids(["two <x> dogs"], add_special=False)
    assert more.decode([more.id("<x>"), *own.ids(["dogs"], add_special=False)[0]]) == "dogs"
