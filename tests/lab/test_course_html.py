"""The course as one page: closed to the outside, whole, usable by everybody and on a phone."""

import re

import pytest

from clearformer.lab.course import read_course, shipped_drawing
from clearformer.lab.course_html import course_sections, write_course
from studio.browsing import NEEDS_BROWSER


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return write_course(tmp_path_factory.mktemp("course"), "en")


def test_nothing_is_loaded_from_anywhere_and_every_link_leads_somewhere(course):
    page = course.read_text(encoding="utf-8")
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!#)""", page)
    assert "url(" not in page
    identifiers = re.findall(r' id="([^"]*)"', page)
    assert len(identifiers) == len(set(identifiers))
    assert set(re.findall(r'href="#([^"]*)"', page)) <= set(identifiers)
    assert {f"mistake-{number}" for number in range(1, 34)} <= set(identifiers)


def test_every_page_and_figure_is_there_in_both_languages(course):
    page = course.read_text(encoding="utf-8")
    shown = read_course()
    assert page.count('class="course"') == len(shown)
    assert page.count("<svg ") == 2 * sum(len(one.figures) for one in shown)
    assert not re.search(r"\*\*|\]\(|```", re.sub(r"<(pre|code|script|style).*?</\1>", "", page, flags=re.DOTALL))


def test_figures_lead_to_the_experiments_that_are_reported():
    linked = "\n".join(course_sections(read_course(), shipped_drawing, {"root-of-width"}))
    assert linked.count('<a href="#root-of-width">') == 2
    assert "#padding-mask" not in linked


@NEEDS_BROWSER
@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1100])
def test_axe_finds_nothing_in_both_languages(browser, course, theme, width):
    from axe_playwright_python.sync_playwright import Axe

    context = browser.new_context(viewport={"width": width, "height": 900}, bypass_csp=True, color_scheme=theme)
    page = context.new_page()
    page.goto(course.as_uri())
    for language in ("en", "zh-Hans"):
        if language != "en":
            page.locator("#switch-language").click()
        found = Axe().run(page)
        assert found.violations_count == 0, f"{language} {theme}\n{found.generate_report()}"
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    context.close()


@NEEDS_BROWSER
@pytest.mark.slow
def test_a_phone_shows_one_language_and_drawings_that_can_be_read(browser, course):
    context = browser.new_context(viewport={"width": 360, "height": 700})
    page = context.new_page()
    failures = []
    page.on("console", lambda message: failures.append(message.text) if message.type == "error" else None)
    page.goto(course.as_uri())
    shown = [one for one in page.locator(".drawing svg").all() if one.is_visible()]
    assert len(shown) == sum(len(one.figures) for one in read_course())
    for one in shown:
        assert one.bounding_box()["width"] >= min(600, int(one.get_attribute("width")))
    page.locator("#switch-language").click()
    assert page.locator("h1:visible, h1 :visible").first.inner_text().startswith("Transformer：")
    assert failures == []
    context.close()
