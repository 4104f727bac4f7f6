"""Summaries from the command line: a line per text, whole files, and what was cut is said on standard error."""

import json
from dataclasses import replace

import pytest

from clearformer.cli.main import main
from clearformer.folder import bundle
from support.toy_models import small

LONG = "two dogs play. " * 12 + "the cat runs in the snow."


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("summarize") / "model"
    told = {"max_length": 33, "decoding": {"beam": 1, "max_tokens": 6}}
    bundle.save(replace(small(), task="summarization", provenance=told), folder)
    return str(folder)


def test_a_line_for_each_text_and_blank_lines_keep_their_places(model, tmp_path, capsys):
    (tmp_path / "in.txt").write_text("two dogs play in the snow\n\nthe cat runs\n")
    assert main(["summarize", "--input", str(tmp_path / "in.txt"), "--model", model]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[1] == ""


def test_parts_are_said_and_json_has_them(model, capsys):
    assert main(["summarize", LONG, "--model", model, "--json"]) == 0
    told = capsys.readouterr()
    found = json.loads(told.out)
    assert found["text"] == LONG
    assert found["parts"] > 1
    assert f"text 1 has {found['tokens']} tokens and was summarised in {found['parts']} parts" in told.err
    assert main(["summarize", LONG, "--model", model, "--long", "beginning"]) == 0
    assert "of which the first 32 were read" in capsys.readouterr().err


def test_a_file_is_one_text(model, tmp_path, capsys):
    (tmp_path / "mail.txt").write_text("two dogs play.\n\nthe cat runs\nin the snow.\n")
    assert main(["summarize", "--file", str(tmp_path / "mail.txt"), "--model", model]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_what_does_not_go_together_is_refused(model, tmp_path, capsys):
    assert main(["summarize", "a text", "--file", "x.txt", "--model", model]) == 2
    assert "only one of these" in capsys.readouterr().err
    assert main(["summarize", "a text", "--model", model, "--beam", "0"]) == 2
