"""Every family that the model folder knows and somebody publishes has a reader."""

import pytest

from clearformer.interop.hf.model_types import FAMILIES, family_of, prefix_of


def test_the_word_of_config_json_finds_the_file():
    assert family_of({"model_type": "mbart"}) is FAMILIES["bart"]
    assert family_of({}, "bert") is FAMILIES["bert"]
    assert prefix_of(FAMILIES["distilbert"]) == "distilbert."


@pytest.mark.parametrize("word", ["abacus", "os.system", "../bert"])
def test_other_words_are_refused_and_the_known_ones_named(word):
    with pytest.raises(ValueError, match=r"is not a known family; known are bert, roberta"):
        family_of({"model_type": word})


def test_no_word_asks_for_one():
    with pytest.raises(ValueError, match="say with --as which family"):
        family_of({})
