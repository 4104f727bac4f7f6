"""What holds for every page: everybody can use it, and nothing is asked of anybody else."""

import pytest

from clearformer.studio.app import STATIC
from studio.browsing import BROWSER, PAGES, choose, settled

pytestmark = BROWSER


@pytest.mark.timeout(900)
def test_axe_finds_nothing_on_any_page_in_both_languages_and_themes(browser, address):
    from axe_playwright_python.sync_playwright import Axe

    axe = Axe()
    for language in ("en", "zh"):
        for theme in ("light", "dark"):
            context = browser.new_context(viewport={"width": 1200, "height": 900}, bypass_csp=True)
            page = context.new_page()
            choose(page, language=language, theme=theme)
            for name in PAGES:
                page.goto(f"{address}/#/{name}")
                page.reload()
                settled(page)
                if name == "heads":
                    page.locator(".large .cell").nth(3).click()
                    page.locator(".cell-panel").wait_for()
                found = axe.run(page)
                assert found.violations_count == 0, f"{name} {language} {theme}\n{found.generate_report()}"
                assert "⟦" not in page.locator("body").inner_text()
            context.close()


def test_the_language_changes_without_a_reload_and_keeps_the_sentence(page, address):
    choose(page)
    page.goto(f"{address}/#/heads")
    page.locator("textarea").fill("a man reads")
    page.wait_for_timeout(300)
    settled(page)
    page.evaluate("() => { window.stayed = true }")
    page.locator("#switch-language").click()
    settled(page)
    assert page.evaluate("() => window.stayed")
    assert page.locator("textarea").input_value() == "a man reads"
    assert "注意力头" in page.locator("h2").inner_text()
    assert page.evaluate("() => document.documentElement.lang") == "zh-Hans"


def test_the_keyboard_is_enough(page, address):
    choose(page)
    page.goto(f"{address}/#/walk")
    settled(page)
    first = page.locator(".step").get_attribute("data-step")
    page.keyboard.press("Space")
    settled(page)
    assert page.locator(".step").get_attribute("data-step") != first
    page.goto(f"{address}/#/heads")
    settled(page)
    page.locator(".large svg").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    page.locator(".cell-panel").wait_for()
    assert page.locator(".cell-panel").get_attribute("data-cell").endswith("/1/1")


@pytest.mark.parametrize("width", [320, 768])
def test_narrow_screens_need_no_sideways_scrolling(browser, address, width):
    context = browser.new_context(viewport={"width": width, "height": 700})
    page = context.new_page()
    for name in PAGES:
        page.goto(f"{address}/#/{name}")
        settled(page)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width, name
    context.close()


def test_nothing_is_asked_of_another_origin_and_the_assets_are_small(page, address):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    choose(page)
    for name in PAGES:
        page.goto(f"{address}/#/{name}")
        settled(page)
    assert asked
    assert not [url for url in asked if not url.startswith((address, "blob:", "data:"))]
    assert sum(path.stat().st_size for path in STATIC.iterdir()) <= 1_000_000


def test_a_text_with_markup_stays_text(page, address):
    choose(page)
    page.goto(f"{address}/#/translate")
    page.locator("textarea").fill('<img src=x onerror="window.hit = 1"> \u202e dog \x01')
    page.wait_for_timeout(400)
    settled(page)
    for name in PAGES:
        page.goto(f"{address}/#/{name}")
        settled(page)
    assert page.evaluate("() => window.hit") is None
    assert page.locator("main img").count() == 0


def test_every_figure_has_its_table(page, address):
    choose(page)
    for name in PAGES:
        page.goto(f"{address}/#/{name}")
        settled(page)
        for figure in page.locator("figure").all():
            figure.locator("details.data summary").last.click()
            figure.locator("details.data tbody tr").first.wait_for()  # filled when it opens
