"""A model that is asked for the wrong thing is introduced, with its verb and the right article."""

from dataclasses import replace

import pytest

from clearformer.cli.main import VERBS
from clearformer.inference.wrong_use import translates, use_of, wrong_use
from clearformer.model.config import HeadConfig
from clearformer.model.presets import preset


def test_a_translator_that_should_continue_a_text():
    assert wrong_use(preset("tiny"), "language-model") == (
        "this model is an encoder–decoder that translates, not one that continues texts; use `clearformer translate`"
    )


def test_a_language_model_that_should_classify():
    assert wrong_use(preset("gpt2"), "class").startswith("this model is a decoder that continues texts, not one that")


@pytest.mark.parametrize(("kind", "verb"), [("class", "classify"), ("tags", "tag"), ("span", "answer")])
def test_the_head_decides_about_the_verb(kind, verb):
    config = replace(preset("bert-base"), head=HeadConfig(kind=kind, labels=0 if kind == "span" else 2))
    assert use_of(config)[1] == verb
    assert verb in VERBS


def test_baselines_translate_and_readers_do_not():
    assert translates(preset("tiny"))
    assert translates(replace(preset("tiny"), shape="lstm"))
    assert not translates(preset("gpt2"))
    assert "an encoder that embeds texts, not one that translates" in wrong_use(preset("bert-base"), "translation")


def test_a_masked_language_model_fills_gaps():
    config = replace(preset("bert-base"), head=HeadConfig(kind="language-model"))
    assert use_of(config) == ("fills in masked words", "fill")
    assert "fill" in VERBS
    assert "translates, not one that fills in masked words" in wrong_use(preset("tiny"), "masked-language-model")


def test_pictures_are_classified_by_the_same_verb_as_texts():
    assert use_of(preset("vit-b16")) == ("classifies pictures", "classify")
    assert "an encoder that classifies pictures, not one that tags words; use `clearformer classify`" in wrong_use(
        preset("vit-b16"), "tags"
    )


def test_what_has_no_verb_is_not_sent_anywhere():
    finder = replace(preset("vit-b16"), head=HeadConfig(kind="boxes", labels=3))
    assert use_of(finder) == ("reads pictures", None)
    assert use_of(preset("bert-base"))[1] is None or use_of(preset("bert-base"))[1] in VERBS
    assert "no verb uses it yet" in wrong_use(finder, "class")
