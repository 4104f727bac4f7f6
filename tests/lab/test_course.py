"""The course: the same in both languages, every figure and command there, every number measured."""

import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from clearformer.lab.bilingual import LANGUAGES
from clearformer.lab.catalogue import EXPERIMENTS, find_experiment
from clearformer.lab.course import course_folder, read_course, shipped_drawing, shipped_measurements
from clearformer.lab.experiment import DataNeededError
from clearformer.lab.ledger import read_ledger

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import course_pages  # noqa: E402 - tools/ is no package

PAGES = {page.name: page for page in read_course()}
QUESTIONS = [name for name in PAGES if re.fullmatch(r"q\d\d", name)]
EVERY_PAGE = pytest.mark.parametrize("name", PAGES)
CHINESE = re.compile(r"[\u4e00-\u9fff]")
QUOTED = re.compile(r"“[^”]*”")  # the notes' own words


def commands(text):
    return re.findall(r"^clearformer (.*)", text, re.MULTILINE)


def test_every_page_of_the_folders_is_in_the_table_of_contents():
    for language in LANGUAGES:
        files = {path.stem for path in (course_folder() / language).glob("*.md")}
        assert files == {*PAGES, "mistakes"}, language


@EVERY_PAGE
def test_both_languages_have_the_same_parts(name):
    text = PAGES[name].text
    for look in (
        r"^(#+) ",
        r"^clearformer .*",
        r"!\[[^\]]*\]\(\.\./figures/(.*)\.(?:en|zh)\.svg\)",
        r"\]\(([\w#.-]+)\)",
    ):
        english, chinese = (re.findall(look, one, re.MULTILINE) for one in (text.en, text.zh))
        assert sorted(english) == sorted(chinese), look
    assert ".zh.svg" not in text.en
    assert ".en.svg" not in text.zh
    assert CHINESE.search(text.zh)
    assert not CHINESE.search(QUOTED.sub("", text.en))


@EVERY_PAGE
def test_both_languages_have_the_same_numbers(name):
    english, chinese = (
        set(re.findall(r"\d+\.\d{2,}|\d{1,3}(?:,\d{3})+", text)) for text in vars(PAGES[name].text).values()
    )
    assert english == chinese


@EVERY_PAGE
def test_every_command_runs_an_experiment(name):
    for command in commands(PAGES[name].text.en):
        if command.startswith("lab "):
            assert command.split()[1] in {*EXPERIMENTS, "all", "course"}
    for inline in re.findall(r"`clearformer lab ([\w-]+)", PAGES[name].text.en):
        assert inline in {*EXPERIMENTS, "all", "course", "NAME"}


@EVERY_PAGE
def test_every_figure_is_drawn_by_its_experiment_and_is_there(name, found):
    assert list(PAGES[name].captions) == PAGES[name].figures
    for experiment, figure in PAGES[name].figures:
        for drawing in vars(shipped_drawing(experiment, figure)).values():
            ElementTree.fromstring(drawing)
        try:
            assert figure in {one.name for one in found(experiment)[1].figures}
        except DataNeededError:
            pytest.skip("its data is not here")


def test_no_figure_is_left_over():
    shown = {pair for page in PAGES.values() for pair in page.figures}
    drawn = {tuple(path.name.split(".")[:2]) for path in (course_folder() / "figures").iterdir()}
    assert drawn == shown


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_names_its_experiment_and_shows_its_figure(name):
    page = PAGES[name]
    named = {command.split()[1] for command in commands(page.text.en) if command.startswith("lab ")}
    assert named
    assert page.figures
    assert {experiment for experiment, _ in page.figures} <= named, "the figure's command is missing"
    number = str(int(name[1:]))
    asked = {one for experiment in named for one in re.split(r", ", find_experiment(experiment).number)}
    assert number in asked, f"no experiment of question {number}"


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_measured_numbers_were_measured(name):
    """Each number of the paragraph with the measurements is in measured.json, or in what is read out of a figure."""
    kept = json.loads((course_folder() / "measured.json").read_text(encoding="utf-8"))["experiments"]
    named = {command.split()[1] for command in commands(PAGES[name].text.en) if command.startswith("lab ")}
    known = " ".join(line["en"] for one in named & kept.keys() for line in kept[one]["lines"].values())
    [paragraph] = [part for part in PAGES[name].text.en.split("\n\n") if part.startswith("**Measured.**")]
    for number in re.findall(r"\d+\.\d{3,}(?:e−\d+)?|\d+\.\d+e−\d+|\d{1,3}(?:,\d{3})+", paragraph):
        assert number in known, number


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_ledger_page_is_what_the_tool_writes(language):
    committed = (course_folder() / language / "mistakes.md").read_text(encoding="utf-8")
    assert committed == course_pages.ledger_page(language), "run python tools/course_pages.py"


def test_every_mistake_that_can_be_measured_has_a_measured_line():
    for entry in read_ledger():
        assert bool(entry.measured) == bool(entry.experiments), entry.number
        for reference in entry.measured:
            experiment, _, line = reference.partition(": ")
            assert experiment in entry.experiments
            assert line in shipped_measurements()[experiment].lines, reference


def test_the_verdicts_are_those_of_the_experiments(found):
    """At the quick scale, too: a verdict that hangs on the scale is no verdict for a course. Those that train networks
    for minutes are left out, since seconds of training settle less."""
    assert set(shipped_measurements()) <= set(EXPERIMENTS)
    for name, noted in shipped_measurements().items():
        if find_experiment(name).minutes > course_pages.LONG:
            continue
        try:
            assert found(name)[1].verdict == noted.verdict, name
        except DataNeededError:
            continue
