"""--why on the command line: a list, shades on a terminal, JSON, a figure, and what is refused."""

import io
import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from clearformer.cli.main import main
from clearformer.cli.why import why_lines
from clearformer.folder.bundle import save
from clearformer.folder.preprocessing import Outcome
from clearformer.inference.attribution import Attribution, Explanation, MarkerScore, WordScore
from clearformer.model.config import HeadConfig
from cli.readers import reader
from support.colour_texts import colour_model
from support.toy_readers import reader as toy_reader

TEXT = "the man sees a red ball"


@pytest.fixture(scope="module")
def model():
    return str(colour_model())


@pytest.fixture(scope="module")
def answerer(tmp_path_factory):
    return reader(tmp_path_factory.mktemp("span"), "span")


def said(capsys, *words):
    capsys.readouterr()
    code = main(list(words))
    told = capsys.readouterr()
    return code, told.out, told.err


def test_a_list_of_words_behind_the_class(model, capsys):
    code, out, _ = said(capsys, "classify", TEXT, "--model", model, "--why")
    assert code == 0
    lines = out.splitlines()
    label, probability, _ = lines[0].split("\t")
    assert label == "red"
    assert float(probability) > 0.9
    assert [line for line in lines if line.startswith("attention rollout")]
    assert [line for line in lines if line.startswith("integrated gradients for 'red'")]
    assert [line for line in lines if line.startswith("baseline: [MASK] for every piece, 64 steps")]
    [scores] = [line for line in lines if line.startswith("sum of scores")]
    assert "logit" in scores
    assert len([line for line in lines if line.startswith("red  ")]) == 2
    assert "\x1b" not in out, "colours are for terminals"


def test_the_text_may_stand_behind_why(model, capsys):
    code, out, _ = said(capsys, "classify", "--model", model, "--why", TEXT)
    assert code == 0
    assert out.startswith("red\t")
    code, out, _ = said(capsys, "classify", "--model", model, "--why", "rollout", TEXT)
    assert code == 0
    assert "integrated gradients" not in out


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """A model that gives a number to each text or pair."""
    folder = tmp_path_factory.mktemp("numbers") / "model"
    made = toy_reader(head=HeadConfig(kind="class", labels=1))
    save(replace(made, preprocessing=replace(made.preprocessing, labels=(), outcome=Outcome(kind="number"))), folder)
    return str(folder)


def test_a_number_is_explained_too(numbers, capsys, tmp_path):
    code, out, _ = said(capsys, "classify", TEXT, "--model", numbers, "--why", "gradient", "--json")
    assert code == 0
    found = json.loads(out)
    [one] = found["why"]["attributions"]
    assert one["completeness"]["logit"] == pytest.approx(found["number"], abs=1e-4)
    figure = tmp_path / "why.svg"
    code, out, _ = said(capsys, "classify", "two ||| one", "--pairs", "--model", numbers, "--why", "--svg", str(figure))
    assert code == 0
    assert "integrated gradients for 'the number'" in out
    assert ElementTree.parse(figure).getroot().tag.endswith("svg")
    code, _, err = said(capsys, "classify", TEXT, "--model", numbers, "--why", "--of", "red")
    assert code == 1
    assert "gives a number to each text, so it has no class 'red' to explain" in err


def test_json_has_every_number(model, capsys):
    _, out, _ = said(capsys, "classify", TEXT, "--model", model, "--why", "gradient", "--steps", "32", "--json")
    found = json.loads(out)
    [one] = found["why"]["attributions"]
    assert found["why"]["of"] == found["label"] == "red"
    assert one["completeness"]["steps"] == 32
    assert sum(word["score"] for word in one["words"]) == pytest.approx(one["completeness"]["total"])
    assert max(one["words"], key=lambda word: word["score"])["word"] == "red"


def test_several_texts_and_a_file_for_the_answers(model, tmp_path, capsys):
    (tmp_path / "in.txt").write_text(f"{TEXT}\n\na blue house\n")
    common = ["--model", model, "--why", "gradient", "--steps", "8", "--json"]
    code, _, _ = said(
        capsys, "classify", "--input", str(tmp_path / "in.txt"), "--output", str(tmp_path / "out"), *common
    )
    assert code == 0
    assert [json.loads(line)["label"] for line in (tmp_path / "out").read_text().splitlines()] == ["red", "blue"]


def test_the_figure_is_an_svg_with_both_methods(model, tmp_path, capsys):
    file = tmp_path / "why.svg"
    code, _, _ = said(capsys, "classify", TEXT, "--model", model, "--why", "--svg", str(file))
    assert code == 0
    texts = [one.text for one in ElementTree.parse(file).iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("red") == 2
    assert any("integrated gradients" in text for text in texts)


def test_an_answer_is_explained(answerer, tmp_path, capsys):
    asked = ["answer", "dogs play ?", "two dogs play in the snow .", "--model", answerer, "--why"]
    code, out, _ = said(capsys, *asked, "--svg", str(tmp_path / "why.svg"))
    assert code == 0
    assert "snow  " in out
    assert (tmp_path / "why.svg").exists()
    _, out, _ = said(capsys, *asked, "--json")
    found = json.loads(out)
    assert found["why"]["of"] == found["text"]
    assert {word["part"] for word in found["why"]["attributions"][0]["words"]} == {"question", "context"}


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (["--of", "red"], 2, "--of belongs to --why; add it"),
        (["--svg", "x.svg"], 2, "--svg belongs to --why; add it"),
        (["--why", "gradeint"], 2, "--why cannot be 'gradeint'; did you mean gradient?"),
        (["--why", "--steps", "0"], 2, "--steps must be at least 1, not 0"),
        (["--why", "--of", "green"], 1, "the model has no class 'green'"),
        (["another text", "--why", "--svg", "x.svg"], 2, "--svg draws one text"),
    ],
)
def test_what_is_refused(model, capsys, words, code, reason):
    got, _, err = said(capsys, "classify", TEXT, "--model", model, *words)
    assert got == code
    assert reason in err
    assert err.count("\n") == 1


def test_an_empty_text_is_named(model, capsys):
    code, _, err = said(capsys, "classify", TEXT, " ", "--model", model, "--why")
    assert code == 1
    assert "text 2 is empty; give some words" in err


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_colours_and_no_color_is_heeded(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.delenv("NO_COLOR", raising=False)
    words = [
        WordScore(word=w, part="text", start=4 * n, end=4 * n + 3, score=n / 3) for n, w in enumerate(("one", "two"))
    ]
    one = Attribution(method="attention rollout", words=tuple(words), markers=(MarkerScore(marker="[CLS]", score=0.6),))
    found = Explanation(of="x", windows=1, attributions=(one,))
    painted = "\n".join(why_lines(found, Terminal()))
    assert "\x1b[" in painted
    monkeypatch.setenv("NO_COLOR", "1")
    plain = "\n".join(why_lines(found, Terminal()))
    assert "\x1b[" not in plain
    assert "two  0.33" in plain
