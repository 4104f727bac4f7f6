"""clearformer explain, as somebody would call it."""

import json
from xml.etree import ElementTree

import pytest

from clearformer.cli.main import main


def test_a_page(model_folder, tmp_path, capsys):
    out = tmp_path / "page.html"
    assert main(["explain", "two dogs", "--model", str(model_folder), "--out", str(out)]) == 0
    assert capsys.readouterr().out.strip() == str(out)
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_figure_in_three_forms(model_folder, tmp_path):
    for suffix in ("svg", "csv", "json"):
        out = tmp_path / f"heads.{suffix}"
        command = ["explain", "two dogs", "--model", str(model_folder), "--figure", "heads", "--out", str(out)]
        assert main(command) == 0
    ElementTree.parse(tmp_path / "heads.svg")
    assert len(json.loads((tmp_path / "heads.json").read_text())["figures"]) == 12
    assert (tmp_path / "heads.csv").read_text().startswith("figure,row,column")


def test_figures_of_a_search_a_model_and_a_run(model_folder, tmp_path):
    (tmp_path / "run").mkdir()
    records = [{"kind": "train", "step": step, "loss": 3.0 / step, "time": step, "count": 9 * step} for step in (1, 2)]
    (tmp_path / "run" / "metrics.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    for words in (["two dogs", "--figure", "tree"], ["--figure", "architecture"], ["--figure", "curves", "--runs"]):
        words = [*words, str(tmp_path / "run")] if words[-1] == "--runs" else words
        for suffix in ("svg", "csv", "json"):
            out = tmp_path / f"{words[words.index('--figure') + 1]}.{suffix}"
            assert main(["explain", *words, "--model", str(model_folder), "--out", str(out)]) == 0
            ElementTree.parse(out) if suffix == "svg" else None
    assert (tmp_path / "curves.csv").read_text().splitlines()[1] == "run,train_loss,1,3.0"


@pytest.mark.parametrize("words", [["--out", "page.html"], ["--figure", "tree", "--out", "tree.svg"]])
def test_a_sentence_is_asked_for_where_one_is_needed(model_folder, tmp_path, monkeypatch, capsys, words):
    monkeypatch.chdir(tmp_path)
    assert main(["explain", "--model", str(model_folder), *words]) == 2
    assert "give the sentence to explain" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--out", "page.pdf"], 2, "should end in .htm or .html"),
        (["--figure", "heads", "--out", "x.png"], 2, "should end in .csv or .json or .svg"),
        (["--figure", "attention", "--site", "nowhere", "--out", "x.svg"], 1, "has no attention layer 'nowhere'"),
        (["--figure", "curves", "--out", "x.svg"], 1, "name its folder with --runs"),
        (["--figure", "curves", "--runs", "nowhere", "--out", "x.svg"], 2, "nowhere is not a folder"),
        (["--out", "no/such/folder/page.html"], 1, "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_said(model_folder, tmp_path, monkeypatch, capsys, words, code, told):
    monkeypatch.chdir(tmp_path)
    assert main(["explain", "two dogs", "--model", str(model_folder), *words]) == code
    assert told in capsys.readouterr().err
