"""Masked language models: the record of a task that imported models are used for."""

import pytest

import clearformer as cf
from clearformer.tasks.masked_words import TASK
from support.every_kind import make


def test_a_gap_has_its_likeliest_words(tmp_path):
    model = cf.load(make("bert language-model", tmp_path / "m"))
    assert isinstance(model, TASK.use)
    [guesses] = model.fill(f"two {model.gap} play")
    shares = [guess.probability for guess in guesses]
    assert shares == sorted(shares, reverse=True)
    assert 0 < sum(shares) <= 1
    assert {(guess.start, guess.end) for guess in guesses} == {(4, 4 + len(model.gap))}
    assert TASK.verb.line(guesses[:1]) == f"{guesses[0].text} {guesses[0].probability:.3f}"
    with pytest.raises(ValueError, match=r"text 1 has no gap; write \[MASK\] where a word is missing"):
        model.fill("two dogs play")
