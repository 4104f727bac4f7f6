"""Wrong usage is told from what could not be done."""

import pytest

from clearformer.cli.main import main
from clearformer.cli.usage import UsageError, asked_wrongly


@pytest.mark.parametrize(
    "arguments",
    [
        ["train"],
        ["train", "--source", "a.en"],
        ["train", "sample", "training.stepps=3"],
        ["train", "sample", "training.steps=many"],
        ["distill", "en-de", "sample", "training.stepps=3"],
        ["diagnose", "en-de", "--source", "a.en"],
        ["doctor", "a.en", "--test", "b.en", "b.de"],
        ["data", "get"],
        ["evaluate", "--beam"],
        ["evaluate"],
        ["quantize", "en-de", "smaller", "--source", "a.en"],
        ["evaluate", "--tokenise", "nonsense"],
        ["evaluate", "--engine", "ctranslate2", "--stop", "proved"],
        ["translate", "hello", "--engine", "ctranslate2", "--with", "en-de"],
        ["train", "sample", "--out", __file__],
        ["distill", "en-de", "sample", "--out", __file__],
        ["quantize", "en-de", __file__],
        ["bench", "--out", __file__],
        ["explain", "--out", "page.html"],
        ["studio", "--port", "70000"],
        ["bench", "everything"],
    ],
)
def test_wrong_usage_is_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    assert main(arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_refusal_becomes_wrong_usage_and_other_errors_stay_what_they_are():
    with pytest.raises(UsageError, match="beam is 0"), asked_wrongly():
        raise ValueError("beam is 0")
    with pytest.raises(OSError, match="disk"), asked_wrongly():
        raise OSError("disk")
