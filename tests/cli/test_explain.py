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


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--out", "page.pdf"], 2, "should end in .htm or .html"),
        (["--figure", "heads", "--out", "x.png"], 2, "should end in .csv or .json or .svg"),
        (["--figure", "attention", "--site", "nowhere", "--out", "x.svg"], 1, "does not attend at 'nowhere'"),
        (["--out", "no/such/folder/page.html"], 1, "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_said(model_folder, tmp_path, monkeypatch, capsys, words, code, told):
    monkeypatch.chdir(tmp_path)
    assert main(["explain", "two dogs", "--model", str(model_folder), *words]) == code
    assert told in capsys.readouterr().err
