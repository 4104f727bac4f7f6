"""Summaries in the browser: text in, summary out, settings of the recipe, what became of a long text."""

from dataclasses import replace

import pytest

from clearformer.inference.summarizer import Summarizer
from clearformer.studio.shown_model import ShownModel
from studio.browsing import BROWSER, choose, serving, settled
from support.toy_models import small

pytestmark = BROWSER
TEXT = "two dogs play. the cat runs in the snow."
LONG = "two dogs play. " * 12 + "the cat runs in the snow."


@pytest.fixture(scope="module")
def short():
    bundle = replace(small(), provenance={"max_length": 33, "decoding": {"beam": 2}}, task="summarization")
    with serving(ShownModel(bundle, "short")) as address:
        yield Summarizer(bundle), address


@pytest.fixture
def summary(page, short):
    choose(page)
    page.goto(short[1])
    write(page, TEXT)
    return page


def write(page, text):
    settled(page)
    page.locator("textarea").fill(text)
    page.wait_for_timeout(300)
    settled(page)


def shown(page):
    return page.locator("[data-result]").get_attribute("data-result")


def test_a_summarizer_opens_with_the_page_for_summaries(summary, short):
    assert summary.locator("nav a[aria-current=page]").inner_text() == "Summarize"
    assert summary.locator("h2").inner_text() == "Summarize a text"
    assert "Translate" not in summary.locator("nav").inner_text()
    assert shown(summary) == short[0].summarize(TEXT)[0].text
    assert summary.get_by_label("Beam width").input_value() == "2"


def test_settings_change_the_summary_and_a_long_text_is_spoken_of(summary, short):
    write(summary, LONG)
    assert "parts, and their summaries were joined" in summary.locator("[data-part=summary]").inner_text()
    assert shown(summary) == short[0].summarize(LONG)[0].text
    summary.get_by_label("A text that is too long").select_option("beginning")
    settled(summary)
    assert "of which the first 32 were read" in summary.locator("[data-part=summary]").inner_text()
    summary.get_by_label("Beam width").fill("1")
    summary.get_by_label("Beam width").press("Enter")
    settled(summary)
    assert shown(summary) == short[0].summarize(LONG, beam=1, long="beginning")[0].text


def test_nothing_to_summarise_and_chinese(summary):
    write(summary, "  ")
    assert "its summary appears as you type" in summary.locator("main").inner_text()
    summary.locator("#switch-language").click()
    settled(summary)
    assert summary.locator("h2").inner_text() == "给文本写摘要"
    assert "只读开头" in summary.locator(".controls").inner_text()


def test_another_model_s_page_says_why_it_is_empty(page, address):
    choose(page)
    page.goto(f"{address}/#/summary")
    settled(page)
    assert page.locator("[data-part=summary]").count() == 1  # an encoder–decoder could be asked
    page.goto(f"{address}/#/translate")
    settled(page)
    assert "Summarize" not in page.locator("nav").inner_text()
