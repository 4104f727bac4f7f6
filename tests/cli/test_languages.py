"""--from and --to name a translator; what does not go together is wrong usage."""

from argparse import Namespace
from pathlib import Path

import pytest

from clearformer.cli.languages import OtherLanguages, settle_translator, some_texts
from clearformer.cli.main import main
from clearformer.cli.usage import UsageError


def asked(model: str | None = None, source: str | None = None, target: str | None = None) -> Namespace:
    return Namespace(model=model, source_language=source, target_language=target)


@pytest.mark.parametrize(
    ("given", "model"),
    [
        (asked(), "en-de"),
        (asked(source="en", target="German"), "en-de"),
        (asked(model="en-de", target="de"), "en-de"),
        (asked(model="runs/mine"), "runs/mine"),
    ],
)
def test_the_model_follows(given: Namespace, model: str):
    settle_translator(given)
    assert given.model == model


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (asked(source="en", target="xx"), "no translator from English to xx is here; .*en to de"),
        (asked(model="en-de", source="zh"), "--from zh does not go with en-de, whose source language is en"),
        (asked(model="shakespeare", target="de"), "does not say its languages"),
    ],
)
def test_what_does_not_fit_is_wrong_usage(given: Namespace, reason: str):
    with pytest.raises(UsageError, match=reason):
        settle_translator(given)


@pytest.mark.parametrize("verb", ["translate", "evaluate"])
def test_the_verbs_refuse_unknown_pairs(capsys: pytest.CaptureFixture[str], verb: str):
    assert main([verb, "--from", "fr", "--to", "zh"]) == 2
    assert "no translator from French to Chinese is here" in capsys.readouterr().err


def test_some_texts_come_from_arguments_or_the_file(tmp_path: Path):
    (tmp_path / "in.txt").write_text("one\ntwo\n")
    assert some_texts(Namespace(text=["a"], input=None)) == ["a"]
    assert some_texts(Namespace(text=[], input=tmp_path / "in.txt")) == ["one", "two"]
    assert some_texts(Namespace(text=[], input=None)) == []


def test_blank_lines_and_numbers_survive_what_is_left_out():
    """The model sees as many texts as there are lines, so that its refusals keep their numbers."""
    seen: list[list[str]] = []

    def translate(texts: list[str]) -> list[str]:
        seen.append(texts)
        return [text.upper() for text in texts]

    others = OtherLanguages("en", "de", translate_all=False)
    around = others.around(translate, lambda text, other: f"{other}: {text}")
    german = "Ich habe das nicht gesehen, und du auch nicht."
    assert around(["a dog", "", german]) == ["A DOG", "", f"German: {german}"]
    assert seen == [["a dog", "", ""]]
    others.finish()
