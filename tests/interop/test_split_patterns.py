"""Patterns of published vocabularies pass; patterns that could take forever do not."""

import pytest

from clearformer.interop.split_patterns import check_patterns, danger
from clearformer.text.assemble import WORDS

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)


@pytest.mark.parametrize("pattern", [GPT2, LLAMA3, r" {2,}", r"\d", r"[()]+", r"\(+\)", r"[^)]+(?:ab)?"])
def test_published_patterns_pass(pattern):
    assert danger(pattern) is None


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+b",
        r"(a*)*",
        r"(?:x+y?)*z",
        r"((ab)*c?)+",
        r"(?:[a-z]+|\d){2,}",
        r"(.*)(\1)",
        r".*.*.*.*=",
        "a" * 5000,
    ],
)
def test_what_could_take_forever_does_not(pattern):
    assert danger(pattern) is not None


def test_a_pattern_is_found_wherever_it_stands():
    deep = {"pre_tokenizer": {"pretokenizers": [{"type": "Split", "pattern": {"Regex": "(a+)+"}}]}}
    with pytest.raises(ValueError, match=r"the pattern '\(a\+\)\+' repeats what repeats itself"):
        check_patterns(deep)
    check_patterns({"model": {"vocab": {"Regex": 3}}, "pre_tokenizer": {"pattern": {"String": "(a+)+"}}})


def test_our_own_pattern_is_known():
    """Words with inner apostrophes repeat a repetition, each behind a sign that the words cannot have."""
    check_patterns({"pattern": {"Regex": WORDS}})
