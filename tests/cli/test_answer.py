"""Answers from the command line: a passage of the context, never of the question."""

import json

import pytest

from clearformer.cli.main import main
from cli.readers import reader


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return reader(tmp_path_factory.mktemp("span"), "span")


def test_the_answer_stands_in_the_context(model, capsys):
    context = "two dogs play in the snow."
    capsys.readouterr()
    assert main(["answer", "dogs play ?", context, "--model", model, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["text"] == context[found["start"] : found["end"]] != ""


def test_a_long_context_is_read_in_windows(model, tmp_path, capsys):
    (tmp_path / "context.txt").write_text("two dogs play in the snow . " * 20)
    capsys.readouterr()
    assert main(["answer", "dogs ?", "--input", str(tmp_path / "context.txt"), "--model", model]) == 0
    assert capsys.readouterr().out.strip() in "two dogs play in the snow . " * 20


def test_one_context_please(model, capsys):
    assert main(["answer", "dogs ?", "--model", model]) == 2
    assert "give a context" in capsys.readouterr().err
