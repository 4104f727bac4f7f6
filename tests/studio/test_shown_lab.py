"""The lab's answers for the page: every experiment, both languages, and a run that is kept."""

from xml.etree import ElementTree

import pytest

from clearformer.lab.catalogue import EXPERIMENTS, find_experiment
from clearformer.serving.admission import Turns
from clearformer.studio.shown_lab import SHORT, ShownLab


@pytest.fixture
def lab(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEARFORMER_CACHE", str(tmp_path))
    return ShownLab(Turns())


def test_every_experiment_is_listed_with_a_verdict(lab):
    listed = lab.list()
    assert [one["name"] for one in listed] == list(EXPERIMENTS)
    for one in listed:
        assert one["question"].keys() == {"en", "zh"}
        assert one["last"] is None
        assert one["verdict"] is None or one["verdict"].keys() == {"en", "zh", "kind"}


def test_a_run_is_kept_and_shown_again(lab):
    assert lab.experiment("softmax-axis")["scale"] == "shipped"
    measured = lab.measure("softmax-axis")
    assert lab.experiment("softmax-axis") == measured
    assert measured["scale"] == "quick"
    assert measured["last"]["scale"] == "quick"
    assert measured["verdict"] == measured["found"]["verdict"]
    [figure] = measured["found"]["figures"]
    for text in figure["svg"].values():
        ElementTree.fromstring(text)
    for table in measured["found"]["tables"]:
        for language in ("en", "zh"):
            assert {len(row[language]) for row in table["rows"]} == {len(table["columns"][language])}


def test_without_a_run_the_course_s_figures_and_numbers_are_shown(lab):
    found = lab.experiment("root-of-width")["found"]
    assert found["figures"][0]["caption"]["zh"].startswith("分数的方差")
    assert any("0.08202" in line for row in found["tables"][0]["rows"] for line in row["en"])


def test_what_takes_minutes_is_left_to_the_command_line(lab):
    long = next(name for name in EXPERIMENTS if find_experiment(name).minutes > SHORT)
    assert not lab.experiment(long)["short"]
    with pytest.raises(ValueError, match=f"clearformer lab {long}"):
        lab.measure(long)


def test_a_name_that_there_is_not(lab):
    with pytest.raises(ValueError, match="did you mean softmax-axis"):
        lab.experiment("softmax-axes")
