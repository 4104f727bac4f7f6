"""The page of all heads."""

import json
from xml.etree import ElementTree

from clearformer.studio.shown_model import ShownModel
from studio.browsing import BROWSER, choose, serving, settled

pytestmark = BROWSER


def test_a_figure_can_be_taken_along(page, address):
    choose(page)
    page.goto(f"{address}/#/heads")
    settled(page)
    files = {}
    for kind in ("SVG", "CSV", "JSON"):
        with page.expect_download() as waiting:
            page.locator(".large .figure-tools button", has_text=kind).click()
        files[kind] = waiting.value.path().read_text(encoding="utf-8")
    tree = ElementTree.fromstring(files["SVG"])
    assert len(list(tree.iter("{http://www.w3.org/2000/svg}text"))) > 10
    assert "var(" not in files["SVG"]
    assert "class=" not in files["SVG"]
    table = json.loads(files["JSON"])
    assert len(table["rows"]) == len(files["CSV"].strip().splitlines()) - 1
    assert len(table["rows"][0]) == len(table["columns"])


def test_a_long_input_is_drawn_on_a_canvas_and_can_be_moved(page, bundles):
    with serving(ShownModel(bundles["llama"], "llama")) as address:
        choose(page)
        page.goto(f"{address}/#/heads")
        page.locator("textarea").fill("dog " * 120)
        page.locator(".matrix-window").wait_for()
        settled(page)
        page.locator(".matrix-window").evaluate("(element) => element.scrollTo(400, 400)")
        page.locator(".matrix-window").focus()
        page.keyboard.press("ArrowDown")
        assert "→" in page.locator(".large .readout").inner_text()
        page.get_by_label("Show the whole matrix").click()
        window = page.locator(".matrix-window")
        assert window.evaluate("(element) => element.scrollHeight <= element.clientHeight + 20")
