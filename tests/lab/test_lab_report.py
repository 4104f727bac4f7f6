"""One page for all findings: whole, in both languages, and usable by everybody."""

import re
from xml.etree import ElementTree

import pytest

from clearformer.lab.catalogue import EXPERIMENTS, find_experiment
from clearformer.lab.experiment import DataNeededError
from clearformer.lab.lab_report import Reported, report_page, write_report
from studio.browsing import NEEDS_BROWSER


@pytest.fixture(scope="module")
def reported(found):
    gathered = []
    for name in EXPERIMENTS:
        try:
            gathered.append(Reported(experiment=find_experiment(name), findings=found(name)[1]))
        except DataNeededError as error:
            gathered.append(Reported(experiment=find_experiment(name), missing=str(error)))
    return gathered


@pytest.fixture(scope="module")
def report(reported, tmp_path_factory):
    return write_report(tmp_path_factory.mktemp("report"), reported, "quick", "en")


def test_nothing_is_loaded_from_anywhere(report):
    page = report.read_text(encoding="utf-8")
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!#)""", page)
    assert "default-src 'none'" in page
    assert "url(" not in page


def test_every_experiment_and_every_mistake_is_there_once(report):
    page = report.read_text(encoding="utf-8")
    identifiers = re.findall(r' id="([^"]*)"', page)
    assert len(identifiers) == len(set(identifiers))
    assert set(EXPERIMENTS) | {f"mistake-{number}" for number in range(1, 34)} <= set(identifiers)
    assert set(re.findall(r'href="#([^"]*)"', page)) <= set(identifiers)


def test_every_figure_is_a_whole_drawing(report):
    drawings = re.findall(r"<svg .*?</svg>", report.read_text(encoding="utf-8"), re.DOTALL)
    assert len(drawings) >= 2 * (len(EXPERIMENTS) - 1)
    for drawing in drawings:
        ElementTree.fromstring(drawing)


def test_an_experiment_that_could_not_run_says_why():
    missing = Reported(experiment=find_experiment("token-ids"), missing="get <this>")
    page = report_page([missing], "quick", "zh")
    assert "get &lt;this&gt;" in page
    assert "未运行" in page
    assert page.startswith('<!doctype html>\n<html lang="zh-Hans" data-language="zh">')


@NEEDS_BROWSER
@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_both_languages(browser, report, theme):
    from axe_playwright_python.sync_playwright import Axe

    context = browser.new_context(viewport={"width": 1100, "height": 900}, bypass_csp=True, color_scheme=theme)
    page = context.new_page()
    page.goto(report.as_uri())
    for language in ("en", "zh-Hans"):
        if language != "en":
            page.locator("#switch-language").click()
        assert page.evaluate("() => document.documentElement.lang") == language
        found = Axe().run(page)
        assert found.violations_count == 0, f"{language} {theme}\n{found.generate_report()}"
    context.close()


@NEEDS_BROWSER
@pytest.mark.slow
def test_the_switches_work_and_a_phone_needs_no_sideways_scrolling(browser, report):
    context = browser.new_context(viewport={"width": 360, "height": 700})
    page = context.new_page()
    failures = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.on("console", lambda message: failures.append(message.text) if message.type == "error" else None)
    page.goto(report.as_uri())
    assert page.locator("h1").inner_text() == "What is said of the Transformer, measured"
    for _ in range(2):
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 360
        page.locator("#switch-language").click()
    page.locator("#switch-language").click()
    assert "逐条实测" in page.locator("h1").inner_text()
    paper = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    page.locator("#switch-theme").click()
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") != paper
    assert failures == []
    context.close()
