"""Tags from the command line: one per word, however many pieces the word was cut into."""

import json

import pytest

from clearformer.cli.main import main
from cli.readers import reader


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return reader(tmp_path_factory.mktemp("tags"), "tags")


def test_a_line_a_word_and_a_blank_line_between_texts(model, capsys):
    capsys.readouterr()
    assert main(["tag", "two dogs play", "the snow", "--model", model]) == 0
    first, second = capsys.readouterr().out.split("\n\n")
    assert [line.split("\t")[0] for line in first.splitlines()] == ["two", "dogs", "play"]
    assert [line.split("\t")[0] for line in second.splitlines()] == ["the", "snow"]


def test_places_lead_back_to_the_text(model, capsys):
    capsys.readouterr()
    text = "Two  dogs."
    assert main(["tag", text, "--model", model, "--json"]) == 0
    for tag in json.loads(capsys.readouterr().out)["tags"]:
        assert text[tag["start"] : tag["end"]] == tag["word"]
        assert tag["label"] in ("calm", "wild", "odd")


def test_a_model_for_another_task_is_refused(tmp_path, capsys):
    model = reader(tmp_path, "span")
    assert main(["tag", "dogs", "--model", model]) == 1
    assert "an encoder that answers questions, not one that tags words; use `clearformer answer`" in (
        capsys.readouterr().err
    )


def test_a_file_in_and_a_file_out(model, tmp_path, capsys):
    (tmp_path / "in.txt").write_text("two dogs play\n\nthe snow\n")
    common = ["tag", "--model", model]
    assert main([*common, "two dogs play", "the snow"]) == 0
    expected = capsys.readouterr().out
    assert main([*common, "--input", str(tmp_path / "in.txt"), "--output", str(tmp_path / "out.txt")]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "1 blank line passed over" in captured.err
    assert (tmp_path / "out.txt").read_text() == expected


def test_both_engines_say_the_same(model, capsys):
    found = {}
    for engine in ("torch", "ctranslate2", "auto"):
        capsys.readouterr()
        assert main(["tag", "two dogs", "the snow .", "--model", model, "--json", "--engine", engine]) == 0
        found[engine] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert found["auto"] == found["ctranslate2"]
    for ours, theirs in zip(found["ctranslate2"], found["torch"], strict=True):
        assert numbers(ours) == pytest.approx(numbers(theirs), abs=1e-4)


def numbers(found: dict) -> list[float]:
    """The probability of each tag."""
    return [tag["probability"] for tag in found["tags"]]
