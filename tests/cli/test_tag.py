"""Tags from the command line: one per word, however many pieces the word was cut into."""

import json
from dataclasses import replace

import pytest
import torch

from clearformer.cli.main import main
from clearformer.folder import bundle
from clearformer.folder.description import find_model
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


def test_an_empty_text_is_refused_and_an_empty_file_named(model, tmp_path, capsys):
    assert main(["tag", "dogs", " ", "--model", model]) == 1
    assert "text 2 is empty" in capsys.readouterr().err
    (tmp_path / "none.txt").write_text("")
    assert main(["tag", "--input", str(tmp_path / "none.txt"), "--model", model]) == 0
    assert "none.txt is empty" in capsys.readouterr().err


def test_both_engines_say_the_same(model, capsys):
    found = {}
    for engine in ("torch", "ctranslate2", "auto"):
        capsys.readouterr()
        assert main(["tag", "two dogs", "the snow .", "--model", model, "--json", "--engine", engine]) == 0
        found[engine] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert found["auto"] == found["torch"]
    for ours, theirs in zip(found["ctranslate2"], found["torch"], strict=True):
        assert numbers(ours) == pytest.approx(numbers(theirs), abs=1e-4)


def numbers(found: dict) -> list[float]:
    """The probability of each tag."""
    return [tag["probability"] for tag in found["tags"]]


@pytest.fixture(scope="module")
def named(model, tmp_path_factory):
    """The same network with tags that mark entities, and opinions strong enough to find some."""
    made = bundle.load(find_model(model))
    torch.manual_seed(1)
    torch.nn.init.normal_(made.model.head.classify.weight, std=3.0)
    folder = tmp_path_factory.mktemp("named") / "model"
    bundle.save(replace(made, preprocessing=replace(made.preprocessing, labels=("O", "B-X", "I-X"))), folder)
    return str(folder)


TEXT = "  two dogs, play in  the snow . dogs the two in snow"


def test_entities_are_spans_with_exact_places(named, capsys):
    capsys.readouterr()
    assert main(["tag", TEXT, "--model", named]) == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert lines
    for text, kind, start, end, probability in lines:
        assert TEXT[int(start) : int(end)] == text
        assert kind == "X"
        assert 0 <= float(probability) <= 1
    assert main(["tag", TEXT, "--model", named, "--entities"]) == 0
    assert [line.split("\t") for line in capsys.readouterr().out.splitlines()] == lines


def test_json_has_words_and_entities(named, capsys):
    capsys.readouterr()
    assert main(["tag", TEXT, "--model", named, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [TEXT[one["start"] : one["end"]] for one in found["tags"]] == [one["word"] for one in found["tags"]]
    assert [TEXT[one["start"] : one["end"]] for one in found["entities"]] == [one["text"] for one in found["entities"]]


def test_words_can_be_asked_for(named, model, capsys):
    capsys.readouterr()
    assert main(["tag", "two dogs", "--model", named, "--words"]) == 0
    assert [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()] == ["two", "dogs"]
    assert main(["tag", "two dogs", "--model", named, "--words", "--entities"]) == 2
    assert "give --entities or --words, not both" in capsys.readouterr().err
    assert main(["tag", "two dogs", "--model", model, "--entities"]) == 2
    assert "mark no entities; leave --entities out" in capsys.readouterr().err


def test_two_models_decide_together(model, capsys):
    """With itself, a model finds what it finds alone; and a model of other tags is refused by the difference."""
    for words in ([], ["--with", model]):
        assert main(["tag", "two dogs play", "--words", "--model", model, *words]) == 0
    alone = capsys.readouterr().out.splitlines()
    assert alone[:3] == alone[3:]
