"""A model that is asked for the wrong thing is introduced, with its verb and the right article."""

from dataclasses import replace

import pytest

from clearformer.cli.main import VERBS, main
from clearformer.inference.wrong_use import translates, use_of, wrong_use
from clearformer.model.config import HeadConfig
from clearformer.model.presets import preset
from support.toy_readers import HEADS, saved


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


@pytest.mark.parametrize(
    ("task", "name", "does", "verb"),
    [
        ("summarization", "tiny", "summarises texts", "summarize"),
        ("denoising", "tiny", "repairs damaged texts", "fill"),
        ("conversation", "gpt2", "converses", "chat"),
    ],
)
def test_a_task_that_shares_its_network_with_another_has_its_own_word(task, name, does, verb):
    """Both where such a model is asked for something else, and where another one is asked for this."""
    assert verb in VERBS
    assert f"that {does}, not one that tags words; use `clearformer {verb}`" in wrong_use(preset(name), "tags", task)
    assert f"an encoder that embeds texts, not one that {does};" in wrong_use(preset("bert-base"), task)


def test_a_network_that_its_task_does_not_fit_is_called_by_what_it_can_do():
    assert "a decoder that continues texts, not one that summarises" in wrong_use(
        preset("gpt2"), "summarization", "summarization"
    )


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
    assert use_of(finder) == ("finds objects in pictures", "detect")
    painter = replace(preset("vit-b16"), head=HeadConfig(kind="pixels"))
    assert use_of(painter) == ("reads pictures", None)
    assert use_of(preset("bert-base"))[1] is None or use_of(preset("bert-base"))[1] in VERBS
    assert "use `clearformer detect`" in wrong_use(finder, "class")
    assert "no verb uses it yet" in wrong_use(painter, "class")


@pytest.fixture(scope="module")
def embedder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wrong-use") / "model"
    saved(folder, head=HEADS["states"])
    return str(folder)


ASKED = {
    "translate": "translates",
    "generate": "continues texts",
    "chat": "converses",
    "fill": "fills in masked words",
    "classify": "classifies texts",
    "tag": "tags words",
    "answer": "answers questions",
    "summarize": "summarises texts",
}


@pytest.mark.parametrize(("verb", "word"), ASKED.items())
def test_every_verb_refuses_in_its_own_word(verb, word, embedder, capsys):
    """Also where the verb is built on another one: a summary is searched for as a translation is."""
    texts = ["two dogs", "two dogs"] if verb == "answer" else ["two dogs"]
    assert main([verb, *texts, "--model", embedder]) == 1
    assert f"an encoder that embeds texts, not one that {word}; use `clearformer embed`" in capsys.readouterr().err
