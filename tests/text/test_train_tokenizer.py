"""Training is a function of its input: same texts, same tokenizer; and it learns what it should."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.text.lines import read_lines
from clearformer.text.normalise import normalise
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.train_tokenizer import TokenizerConfig, train, train_from

KINDS = ("bpe", "unigram", "character", "byte", "wordpiece")


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_texts_give_the_same_tokenizer_whatever_the_threads(kind, sentences, tmp_path):
    """Other processes have other hash seeds; one has a single thread, one has no parallelism at all."""
    here = train(kind, sentences, 420).fingerprint()
    script = tmp_path / "train.py"
    script.write_text(
        "import sys\nfrom clearformer.text.train_tokenizer import train\n"
        f"print(train({kind!r}, {sentences!r}, 420).fingerprint())\n"
    )
    for setting in ({"RAYON_NUM_THREADS": "1"}, {"TOKENIZERS_PARALLELISM": "false"}, {"RAYON_NUM_THREADS": "3"}):
        there = subprocess.run(
            [sys.executable, str(script)], env=os.environ | setting, capture_output=True, text=True, check=True
        )
        assert there.stdout.strip() == here


@pytest.mark.parametrize("kind", KINDS)
def test_ids_begin_with_the_special_tokens_and_have_no_gap(trained, kind):
    tokenizer = trained[kind]
    layout = (
        ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] if kind == "wordpiece" else ["<pad>", "<bos>", "<eos>", "<unk>"]
    )
    pieces = [tokenizer.piece(number) for number in range(tokenizer.vocab_size)]
    assert sorted(pieces[: len(layout)]) == sorted(layout)
    assert pieces.index(layout[0]) == 0
    assert len(set(pieces)) == len(pieces)


@pytest.mark.parametrize("kind", ["bpe", "unigram", "character", "wordpiece"])
def test_the_vocabulary_is_never_larger_than_asked(sentences, kind):
    for size in (260, 300, 400):
        assert train(kind, sentences, size).vocab_size <= size


def test_bpe_learns_whole_words_and_gives_them_one_piece_everywhere(sentences):
    tokenizer = train("bpe", sentences, 800)
    assert tokenizer.encode("dogs", add_special=False).pieces == (" dogs",)
    assert tokenizer.encode("the dogs", add_special=False).pieces == (" the", " dogs")


def test_without_the_prefix_a_first_word_is_spelt_differently(sentences):
    tokenizer = train("bpe", sentences, 800, prefix_space=False)
    inside = tokenizer.encode("the dogs", add_special=False).pieces[-1]
    assert inside == " dogs"
    assert " dogs" not in tokenizer.encode("dogs", add_special=False).pieces
    assert tokenizer.decode(tokenizer.encode(" dogs").ids) == " dogs"


def test_unigram_learns_a_word_that_is_part_of_no_other(sentences):
    """The library alone cannot: it starts from strings that two different words share."""
    assert train("unigram", sentences, 600).encode("while", add_special=False).pieces == (" while",)


def test_wordpiece_marks_continuations(trained):
    pieces = trained["wordpiece"].encode("snowdog", add_special=False).pieces
    assert not pieces[0].startswith("##")
    assert all(piece.startswith("##") for piece in pieces[1:])
    assert trained["wordpiece"].decode(trained["wordpiece"].encode("Two  dogs").ids) == "Two dogs"


def test_a_frequent_chinese_character_is_one_piece_and_a_rare_one_three_bytes(sentences):
    tokenizer = train("bpe", sentences, 800)
    assert tokenizer.encode("狗", add_special=False).pieces[-1] == "狗"
    rare = tokenizer.encode("龘", add_special=False)
    assert rare.pieces[-3:] == ("<0xE9>", "<0xBE>", "<0x98>")
    assert rare.offsets[-3:] == ((0, 1),) * 3


def test_words_are_learned_whole_the_frequent_ones_first():
    """A text may spell <unk> for words that somebody has removed: it is the same <unk>."""
    texts = ["the <unk> dog sees the cat .", "the dog , <unk> !"]
    tokenizer = train("word", texts, 100, min_frequency=1)
    assert [tokenizer.piece(number) for number in range(4)] == ["<pad>", "<bos>", "<eos>", "<unk>"]
    assert [tokenizer.piece(number) for number in (4, 5)] == ["the", "dog"]
    assert tokenizer.vocab_size == 4 + 7
    assert tokenizer.encode("the bird <unk> .", add_special=False).ids[1:3] == (tokenizer.unk_id,) * 2
    assert train("word", texts, 100, min_frequency=2).vocab_size == 4 + 2
    assert train("word", texts, 5, min_frequency=1).vocab_size == 5


def test_a_byte_has_its_own_number(trained):
    assert trained["byte"].encode("A\n", add_special=False).ids == (4 + ord("A"), 4 + ord("\n"))
    assert trained["byte"].vocab_size == 260


def test_digits_are_copied_one_by_one(trained):
    pieces = trained["bpe"].encode("in 1984", add_special=False).pieces
    assert [piece.strip() for piece in pieces[-4:]] == ["1", "9", "8", "4"]


def test_one_vocabulary_for_two_languages_is_one_call(sentences):
    english = [text for text in sentences if "dog" in text]
    german = [text for text in sentences if "Hund" in text]
    joint = train("character", [*english, *german, "ü" * 9])
    apart = train("character", english)
    assert joint.encode("ü", add_special=False).pieces == ("ü",)
    assert len(apart.encode("ü", add_special=False)) == 2


def test_one_shot_iterators_give_the_same_as_lists(sentences):
    for kind in KINDS:
        assert train(kind, iter(sentences), 300) == train(kind, sentences, 300)


@pytest.mark.parametrize("choices", [("nfc",), ("nfkc",), ("lowercase",), ("nfkc", "lowercase")])
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
@settings(max_examples=40, deadline=None)
def test_with_normalisation_the_promise_is_the_normalised_text(choices, text):
    tokenizer = _normalising(choices)
    assert tokenizer.decode(tokenizer.encode(text).ids) == normalise(text, choices)


def _normalising(choices, cache={}) -> Tokenizer:  # noqa: B006 (one training for all examples)
    if choices not in cache:
        cache[choices] = train("bpe", ["Two Dogs é ﬁ"] * 3, 260, normalise=choices)
    return cache[choices]


def test_lower_case_training_keeps_no_capital(sentences):
    tokenizer = train("bpe", sentences, 600, normalise=["lowercase"])
    assert tokenizer.decode(tokenizer.encode("TWO DOGS").ids) == "two dogs"
    assert tokenizer.encode("TWO DOGS").ids == tokenizer.encode("two dogs").ids


def test_config_and_call_are_the_same_door(sentences):
    config = TokenizerConfig(kind="bpe", vocab_size=300)
    assert train_from(config, sentences) == train("bpe", sentences, 300)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"kind": "words"}, "unknown kind of tokenizer 'words'; choose from bpe, wordpiece, unigram, word, character"),
        ({"vocab_size": 100}, "vocab_size 100 does not suit a bpe vocabulary; choose between 247"),
        ({"vocab_size": 10**9}, "vocab_size 1000000000 does not suit"),
        ({"normalise": ("upper",)}, "unknown normalisation 'upper'; choose from nfc, nfkc, lowercase"),
        ({"min_frequency": 0}, "min_frequency is 0"),
    ],
)
def test_impossible_choices_are_refused_with_the_possible_ones(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        TokenizerConfig(**arguments)


@pytest.mark.parametrize("kind", ["bpe", "unigram", "wordpiece"])
def test_no_text_is_said_and_not_trained_on(kind):
    with pytest.raises(ValueError, match=f"no text to learn a {kind} vocabulary from"):
        train(kind, [], 300)


def test_a_bare_string_is_not_a_list_of_texts():
    with pytest.raises(TypeError, match="texts is one string"):
        train("bpe", "Two dogs", 300)


def test_training_text_may_contain_anything(sentences):
    odd = ["", "\x00\x01", "<pad> <0x41>", "\x01while\x01", "a" * 5000, "\ufeff\u2028"] * 3
    for kind in ("bpe", "unigram", "character"):
        tokenizer = train(kind, sentences + odd, 420)
        for text in odd:
            assert tokenizer.decode(tokenizer.encode(text).ids) == text


@pytest.mark.corpora
@pytest.mark.parametrize("kind", ["bpe", "unigram", "character", "byte"])
def test_a_real_corpus_comes_back_line_by_line(kind):
    """Moses-tokenised, lower-cased English and German (&apos;, @-@, double spaces), and Chinese."""
    folder = Path(os.environ["CLEARFORMER_DATA"])
    names = ["multi30k/tok/val.lc.norm.tok.en.gz", "multi30k/tok/val.lc.norm.tok.de.gz", "zh-en/val.zh.gz"]
    texts = [line for name in names for line in read_lines(folder / name)]
    tokenizer = train(kind, texts, 2000)
    assert len(texts) > 3000
    assert tokenizer.decode_batch(tokenizer.ids(texts)) == texts
