"""clearformer lab, from the command line."""

import json

import pytest

from clearformer.cli.main import main
from clearformer.lab.catalogue import EXPERIMENTS
from clearformer.lab.course import course_folder


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("CLEARFORMER_CACHE", str(tmp_path / "cache"))


def test_the_list_in_both_languages(capsys):
    assert main(["lab"]) == 0
    printed = capsys.readouterr().out
    assert all(f" {name} " in printed for name in EXPERIMENTS)
    assert (
        printed.count("measured by the authors: ") == printed.count("not run on this machine yet") == len(EXPERIMENTS)
    )
    assert main(["lab", "--language", "zh"]) == 0
    assert "作者实测：" in capsys.readouterr().out


@pytest.mark.parametrize(("locale", "word"), [("zh_CN.UTF-8", "分钟"), ("de_DE.UTF-8", "min")])
def test_the_locale_chooses_the_language_where_nobody_does(locale, word, monkeypatch, capsys):
    monkeypatch.setenv("LC_ALL", locale)
    assert main(["lab"]) == 0
    assert word in capsys.readouterr().out


def test_one_experiment_and_then_the_list(tmp_path, capsys):
    assert main(["lab", "scaled-embeddings", "--quick", "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert "verdict: does not hold" in printed
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "scaled-embeddings.json",
        "scaled-embeddings-sizes.svg",
    }
    assert main(["lab", "--json"]) == 0
    listed = {one["name"]: one for one in json.loads(capsys.readouterr().out)}
    assert list(listed) == list(EXPERIMENTS)
    assert listed["scaled-embeddings"]["last"]["verdict"] == "does not hold"
    assert listed["padding-mask"]["last"] is None
    shipped = json.loads((course_folder() / "measured.json").read_text(encoding="utf-8"))["experiments"]
    for name, one in listed.items():
        assert one["authors"] == {key: shipped[name][key] for key in ("verdict", "scale", "date")}
    assert main(["lab"]) == 0
    assert capsys.readouterr().out.count("your last run: does not hold (quick scale, ") == 1


def test_json_of_one(capsys):
    assert main(["lab", "marks-example", "--quick", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "does not hold"
    assert told["tables"][0]["rows"]


def test_data_that_is_not_here_is_one_sentence(monkeypatch, capsys):
    monkeypatch.delenv("CLEARFORMER_DATA", raising=False)
    assert main(["lab", "token-ids", "--quick"]) == 1
    captured = capsys.readouterr()
    assert "vocab.txt" in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["lab", "padding"], "there is no experiment 'padding'; did you mean padding-mask?"),
        (["lab", "--quick"], "--quick belongs to an experiment; name one, or all"),
    ],
)
def test_wrong_usage(words, sentence, capsys):
    assert main(words) == 2
    assert sentence in capsys.readouterr().err


def test_a_file_where_a_folder_should_be(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert main(["lab", "all", "--quick", "--out", str(tmp_path / "file")]) == 2
    assert "is a file; name a folder" in capsys.readouterr().err
