"""The diagnosis on the command line: for people, for programs, and a sentence where there is nothing to look at."""

import json

import pytest

from clearformer.cli.main import main


@pytest.fixture
def pairs(tmp_path):
    """Five sentences with translations that an untrained model does not find."""
    for name, word in (("s.en", "two dogs play"), ("r.de", "zwei Hunde spielen")):
        (tmp_path / name).write_text("".join(f"{word} {n}\n" for n in range(5)))
    return ["--source", str(tmp_path / "s.en"), "--reference", str(tmp_path / "r.de")]


def test_an_untrained_model_is_told_off_with_numbers(model_folder, pairs, capsys):
    assert main(["diagnose", str(model_folder), *pairs]) == 0
    printed = capsys.readouterr().out
    assert "ignores-the-source: the model hardly uses its source" in printed
    assert "worth of the source" in printed
    assert "train longer" in printed


def test_json_has_measures_and_findings(model_folder, pairs, capsys):
    assert main(["diagnose", str(model_folder), *pairs, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["measures"]["sentences"] == 5
    assert "ignores-the-source" in {finding["name"] for finding in found["findings"]}


def test_a_model_alone_needs_sentences(model_folder, capsys):
    assert main(["diagnose", str(model_folder)]) == 1
    assert "is a model alone: give its run, or sentences" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--source", "--reference"])
def test_one_side_alone_is_wrong_usage(model_folder, capsys, option):
    assert main(["diagnose", str(model_folder), option, "a"]) == 2
    assert "--source and --reference belong together" in capsys.readouterr().err


def test_a_folder_of_something_else_is_named(tmp_path, capsys):
    assert main(["diagnose", str(tmp_path)]) == 1
    assert "is not a model folder" in capsys.readouterr().err
