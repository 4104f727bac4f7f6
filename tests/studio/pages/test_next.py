"""What comes next, in the browser: the model's numbers, tokens taken by mouse and keyboard, both languages."""

import json
from xml.etree import ElementTree

import pytest

from clearformer.studio.requests import LensRequest, NextRequest, PartsRequest
from clearformer.studio.shown_model import ShownModel
from studio.browsing import BROWSER, choose, serving, settled, shown_as

pytestmark = BROWSER
TEXT = "two dogs play in the"


@pytest.fixture(scope="module")
def llama(bundles):
    with serving(ShownModel(bundles["llama"], "llama")) as address:
        yield address


def write(page, text):
    page.locator("textarea").fill(text)
    page.wait_for_timeout(300)
    ready(page)


def ready(page):
    """Lens and parts are asked for when the first answer has come."""
    settled(page)
    page.wait_for_timeout(50)
    settled(page)


@pytest.fixture
def opened(page, llama):
    choose(page)
    page.goto(f"{llama}/#/next")
    settled(page)
    write(page, TEXT)
    return page


def test_bars_and_shades_are_the_model_s_own_numbers(opened, all_handlers):
    found = all_handlers["llama"].next(NextRequest(text=TEXT))
    shares = [float(one.get_attribute("data-probability")) for one in opened.locator(".candidates .share").all()]
    assert shares == pytest.approx([one["probability"] for one in found["likeliest"]], abs=1e-5)
    shades = [one.get_attribute("data-surprise") for one in opened.locator("button.shade").all()]
    assert shades[0] is None
    assert [float(one) for one in shades[1:]] == pytest.approx(
        [one["surprise"] for one in found["tokens"][1:]], abs=1e-3
    )
    opened.locator("button.shade").nth(2).focus()
    told = found["tokens"][2]
    assert f"surprise {told['surprise']:.2f} nats" in opened.locator(".readout").first.inner_text()
    assert f"rank {told['rank']}" in opened.locator(".readout").first.inner_text()


def test_a_token_is_put_behind_the_text_by_mouse_and_by_key(opened, all_handlers):
    box, expected = opened.locator("textarea"), TEXT
    for act in ("click", "Alt+Digit1", "Enter"):
        offered = all_handlers["llama"].next(NextRequest(text=expected))["likeliest"]
        place = next(place for place, one in enumerate(offered) if one["adds"])
        if act == "click":
            opened.locator("button.candidate").nth(place).click()
        elif act == "Enter":
            opened.locator("button.candidate").nth(place).focus()
            opened.keyboard.press("Enter")
        else:
            box.focus()
            opened.keyboard.press(f"Alt+Digit{(place + 1) % 10}")
        ready(opened)
        expected += offered[place]["adds"]
        assert box.input_value() == expected
    assert opened.evaluate("() => document.activeElement.className") == "candidate"  # Enter again takes the next one


def test_a_candidate_of_an_older_text_is_not_taken(opened):
    """Between a keystroke and its answer the list belongs to another text."""
    opened.route("**/api/next", lambda route: None)  # no answer ever comes
    opened.locator("textarea").press_sequentially(" cat")
    opened.locator("button.candidate:not([aria-disabled])").first.click()
    assert opened.locator("textarea").input_value() == f"{TEXT} cat"


def test_who_types_on_is_not_answered_about_older_texts(page, llama):
    """Questions wait while the first is held up; the newer gives the older up, and the last text is the one shown."""
    choose(page)
    given_up, held = [], []
    page.on("requestfailed", lambda request: given_up.append(request.url))
    page.goto(f"{llama}/#/next")
    settled(page)
    page.route("**/api/next", lambda route: held.append(route))
    for text in ("a", "a man", "a man reads"):
        page.locator("textarea").fill(text)
        page.wait_for_timeout(300)
    held[-1].continue_()
    page.unroute("**/api/next")
    ready(page)
    assert len([url for url in given_up if url.endswith("/api/next")]) == 2
    assert "reads" in page.locator("[data-part=next]").inner_text()


def test_another_place_shows_what_was_expected_there(opened, all_handlers):
    opened.locator("button.shade").nth(2).click()
    ready(opened)
    found = all_handlers["llama"].next(NextRequest(text=TEXT, place=2))
    shares = [float(one.get_attribute("data-probability")) for one in opened.locator(".candidates .share").all()]
    assert shares == pytest.approx([one["probability"] for one in found["likeliest"]], abs=1e-5)
    assert opened.locator("button.candidate").count() == 0  # a token goes behind the text, not into it
    assert opened.locator("button.shade[aria-pressed=true]").count() == 1


def test_the_lens_and_the_parts_are_the_model_s_own_numbers(opened, all_handlers):
    handlers = all_handlers["llama"]
    lens = handlers.lens(LensRequest(text=TEXT))
    rows = opened.locator("[data-layer]").all()
    assert [int(row.get_attribute("data-rank")) for row in rows] == [layer["rank"] for layer in lens["layers"]]
    sum_line = opened.locator(".sum")
    found = handlers.parts(PartsRequest(text=TEXT))
    assert float(sum_line.get_attribute("data-logit")) == pytest.approx(found["logit"], abs=1e-4)
    assert float(sum_line.get_attribute("data-total")) == pytest.approx(found["logit"], abs=1e-4)
    assert shown_as(found["logit"]) in sum_line.inner_text()


def test_one_token_against_another(opened, all_handlers):
    handlers = all_handlers["llama"]
    [first, second] = [one["id"] for one in handlers.next(NextRequest(text=TEXT))["likeliest"][:2]]
    opened.get_by_label("Against").select_option(str(second))
    ready(opened)
    found = handlers.parts(PartsRequest(text=TEXT, token=first, against=second))
    assert float(opened.locator(".sum").get_attribute("data-logit")) == pytest.approx(found["logit"], abs=1e-4)
    opened.get_by_label("Token", exact=True).select_option(str(second))
    ready(opened)
    assert float(opened.locator(".sum").get_attribute("data-logit")) == pytest.approx(0, abs=1e-6)


def test_every_figure_can_be_saved_and_has_its_table(opened):
    figures = opened.locator("figure").all()
    assert len(figures) == 5
    for figure in figures:
        drawn, listed = (save(opened, figure, kind) for kind in ("SVG", "JSON"))
        assert len(list(ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text"))) > 4
        assert "class=" not in drawn
        table = json.loads(listed)
        assert {len(row) for row in table["rows"]} == {len(table["columns"])}
        figure.locator("details.data summary").click()
        figure.locator("details.data tbody tr").first.wait_for()


def save(page, figure, kind):
    with page.expect_download() as saved:
        figure.get_by_role("button", name=kind, exact=True).click()
    return saved.value.path().read_text(encoding="utf-8")


@pytest.mark.timeout(300)
def test_axe_finds_nothing_in_both_languages_and_themes(browser, llama):
    from axe_playwright_python.sync_playwright import Axe

    for language in ("en", "zh"):
        for theme in ("light", "dark"):
            context = browser.new_context(viewport={"width": 1200, "height": 900}, bypass_csp=True)
            page = context.new_page()
            choose(page, language=language, theme=theme)
            page.goto(f"{llama}/#/next")
            ready(page)
            assert page.locator(".lens").count() == 1
            assert page.locator(".bars").count() == 1
            found = Axe().run(page)
            assert found.violations_count == 0, f"{language} {theme}\n{found.generate_report()}"
            assert "⟦" not in page.locator("body").inner_text()
            page.set_viewport_size({"width": 320, "height": 700})
            assert page.evaluate("() => document.documentElement.scrollWidth") <= 320
            context.close()


def test_too_long_a_text_is_refused_in_one_sentence(opened):
    write(opened, "ø" * 300)
    assert "more than the 512 shown here" in opened.locator(".message").inner_text()
    assert opened.locator("figure").count() == 0
    write(opened, "a man")
    assert opened.locator("figure").count() == 5
