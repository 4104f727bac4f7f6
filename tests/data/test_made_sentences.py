"""Made sentences: what fills a gap is the same in both languages, written as each of them writes numbers."""

import random
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import made_sentences

ROWS = [line.split("\t") for line in made_sentences.SENTENCES.read_text(encoding="utf-8").splitlines()]


def test_every_sentence_has_the_same_gaps_in_three_languages():
    for row in ROWS:
        assert len(row) == 3
        assert len({tuple(sorted(re.findall(r"\{\w+\}", side))) for side in row}) == 1, row


def test_numbers_are_written_as_each_language_does():
    pairs = [
        made_sentences.filled("{number} {decimal}", "{number} {decimal}", ("en", "de"), random.Random(seed))
        for seed in range(30)
    ]
    exchange = str.maketrans(",.", ".,")
    assert all(english.translate(exchange) == german for english, german in pairs)
    assert any("," in english for english, _ in pairs)


def test_the_same_seed_makes_the_same_and_each_round_other_names():
    first, again = (list(made_sentences.made("zh", "en", times=2, seed=3)) for _ in range(2))
    assert first == again
    assert len(set(first)) > len(ROWS)
    assert list(made_sentences.made("zh", "en", times=2, seed=4)) != first
