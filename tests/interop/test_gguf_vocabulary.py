"""Vocabularies of GGUF files cut texts as the published tokenizers do, hostile ones included."""

import random
from pathlib import Path
from types import SimpleNamespace

import pytest
import regex
import tokenizers
from tokenizers import models, pre_tokenizers

from clearformer.interop import gguf_vocabulary
from clearformer.interop.gguf_vocabulary import WORDS
from clearformer.interop.split_patterns import danger

LETTERS = sorted(pre_tokenizers.ByteLevel.alphabet())
SMALL, LARGE = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)", r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
# What the published tokenizer.json of each says, written as one pattern a step for another engine.
STEPS = {
    "gpt-2": [r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"],
    "llama-bpe": [SMALL + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}" + LARGE],
    "qwen2": [SMALL + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}" + LARGE],
    "deepseek-coder": [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-퟿]+", r"\p{N}"],
}
STEPS |= {name: [r"\p{N}", *STEPS["gpt-2"]] for name in ("smollm", "starcoder", "refact", "command-r")}
STEPS["mpt"] = STEPS["gpt-2"]
COMPOSED = {"mpt", "command-r", "qwen2"}
PIECES = [
    "Hello", " world", "don't", "WE'LL", "it's", "'s", "3,14", "2024", "1234567", " 42", "日本語", "他在河边", "한국어",
    "🙂", "👩\u200d👧", "é", "e\u0301", "ﬁ", "\n", "\r\n", "\t", "  ", "   ", "\u00a0", "\u3000", "…", "——", "!?",
    "<|im_start|>", "x_y", "a+b=c", "Ⅻ", "٣٤", "½", "ß", "İ", "\u200b", "$", "^", "`", "~", "|", "العربية", "हिन्दी",
    "ไทย", ".", "#include", "\\n", "\x00",
]  # fmt: skip


def texts(count: int = 300) -> list[str]:
    drawn = random.Random(2017)
    return ["", *PIECES, *("".join(drawn.choices(PIECES, k=drawn.randint(2, 9))) for _ in range(count))]


def byte_level(before: str) -> tokenizers.Tokenizer:
    """A vocabulary of single bytes, whose words are what the way of cutting makes."""
    facts = {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": before,
        "tokenizer.ggml.tokens": LETTERS,
        "tokenizer.ggml.merges": [],
    }
    made, notes = gguf_vocabulary.read(SimpleNamespace(path=Path("m.gguf"), facts=facts), len(LETTERS))
    assert notes == ()
    assert made is not None
    return tokenizers.Tokenizer.from_str(made._definition)


def cut(text: str, steps: list[str]) -> list[str]:
    """By each pattern in turn: what it finds and what lies between are words."""
    words = [text] if text else []
    for step in steps:
        found = [piece for word in words for piece in regex.split(f"({step})", word)]
        words = [piece for piece in found if piece]
    return words


@pytest.mark.parametrize("before", STEPS)
def test_a_text_is_cut_as_the_published_pattern_says(before):
    """Words by another engine; bytes are then letters, so each word is read back from its letters."""
    engine = byte_level(before)
    letter = {made: bytes([byte]) for byte, made in byte_letters().items()}
    for text in texts():
        given = text if engine.normalizer is None else engine.normalizer.normalize_str(text)
        words = [word for word, _ in engine.pre_tokenizer.pre_tokenize_str(given)]
        ours = [b"".join(letter[one] for one in word).decode("utf-8") for word in words]
        assert ours == cut(given, STEPS[before]), (before, text)
    assert (engine.normalizer is not None) == (before in COMPOSED)


def byte_letters() -> dict[int, str]:
    """GPT-2's letters for bytes: printable ones stand for themselves, the others follow from 256 on."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {byte: chr(byte) for byte in plain} | {byte: chr(256 + number) for number, byte in enumerate(others)}


def test_falcon_cuts_signs_first_and_three_digits_at_a_time():
    """The steps of its published tokenizer.json, by the same library from their own JSON."""
    engine, published = byte_level("falcon"), tokenizers.Tokenizer(models.BPE())
    steps = [
        pre_tokenizers.Punctuation(behavior="contiguous"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=True),
        pre_tokenizers.Digits(individual_digits=False),
        pre_tokenizers.Split(tokenizers.Regex("[0-9][0-9][0-9]"), behavior="isolated"),
    ]
    published.pre_tokenizer = pre_tokenizers.Sequence(steps)
    for text in texts():
        assert engine.pre_tokenizer.pre_tokenize_str(text) == published.pre_tokenizer.pre_tokenize_str(text)
    words = [word for word, _ in engine.pre_tokenizer.pre_tokenize_str("a!?1234567b")]
    assert words == ["a", "!?", "123", "456", "7", "b"]


def test_every_way_of_cutting_is_compared_and_safe():
    assert WORDS.keys() == STEPS.keys() | {"falcon"}
    for steps in STEPS.values():
        assert not any(map(danger, steps))


@pytest.mark.parametrize("before", ["deepseek-llm", "tekken", "gpt-4o", "bloom", ""])
def test_another_way_is_said_and_its_vocabulary_not_used(before):
    facts = {
        "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": before, "tokenizer.ggml.tokens": LETTERS
    }  # fmt: skip
    made, (note,) = gguf_vocabulary.read(SimpleNamespace(path=Path("m.gguf"), facts=facts), len(LETTERS))
    assert made is None
    assert f"how {before!r} splits text into words is not known here; known are gpt-2" in note


WORDS_OF_BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "play", "##ing", "dog", "##s", "!", "他", "e", "##e"]


def wordpiece(words: list[str], **facts):
    """As llama.cpp's converter spells them: a mark before what begins a word, nothing before what goes on."""
    spelt = [
        word if word.startswith("[") else word[2:] if word.startswith("##") else f"▁{word}" for word in words
    ]  # fmt: skip
    told = {"tokenizer.ggml.model": "bert", "tokenizer.ggml.tokens": spelt, **facts}
    return gguf_vocabulary.read(SimpleNamespace(path=Path("m.gguf"), facts=told), len(words))[0]


@pytest.mark.parametrize("words", [WORDS_OF_BERT, [*WORDS_OF_BERT, "Dog"]])
def test_wordpiece_is_bert_s_own(words):
    from transformers import BertTokenizerFast

    numbered = {word: number for number, word in enumerate(words)}
    theirs = BertTokenizerFast(vocab=numbered, do_lower_case="Dog" not in words)
    ours = wordpiece(words)
    for text in [*texts(100), "Dogs playing!", "dog Dog DOGS", "Éé他他", "[MASK] plays"]:
        assert list(ours.encode(text).ids) == theirs(text)["input_ids"], text


def test_wordpiece_without_its_marks_is_refused():
    with pytest.raises(ValueError, match=r"m\.gguf has a vocabulary of BERT's kind without \[CLS\]"):
        wordpiece([word for word in WORDS_OF_BERT if word != "[CLS]"])
