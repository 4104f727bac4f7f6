"""Summaries from the command line: a line per text, whole files, and what was cut is said on standard error."""

import json
from dataclasses import replace

import pytest

from clearformer.cli.main import main
from clearformer.folder import bundle
from clearformer.inference.summarizer import Summarizer
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
    told = capsys.readouterr()
    lines = told.out.splitlines()
    assert len(lines) == 3
    assert lines[1] == ""
    assert told.err.splitlines()[0] == f"{tmp_path / 'in.txt'}:2 is empty, and so is its summary"


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


def test_evaluate_uses_a_model_as_its_recipe_did(model, tmp_path, monkeypatch, capsys):
    """What the folder remembers counts unless the command line says otherwise."""
    used = []
    real = Summarizer.summarize

    def watched(self, texts, config=None, **more):
        used.append(config)
        return real(self, texts, config, **more)

    monkeypatch.setattr(Summarizer, "summarize", watched)
    rows = [{"text": f"two dogs play in the snow and the cat runs {n}", "summary": f"dogs play {n}"} for n in range(4)]
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["evaluate", "--model", model, "--data", str(tmp_path / "test.jsonl")]) == 0
    assert main(["evaluate", "--model", model, "--data", str(tmp_path / "test.jsonl"), "--beam", "2"]) == 0
    assert [(one.beam, one.max_tokens) for one in used] == [(1, 6), (2, 6)]
    assert "ROUGE-L" in capsys.readouterr().out
