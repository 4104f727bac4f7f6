"""A detector in the browser: its own boxes, patches by mouse and keyboard, both languages, files to keep."""

import io

import numpy as np
import pytest
from PIL import Image

from clearformer.inference.detector import Detector
from clearformer.studio.shown_model import ShownModel
from studio.browsing import BROWSER, choose, passes_axe, serving, settled
from studio.small_pictures import box_model, picture_file

pytestmark = BROWSER
FILE = picture_file(width=40, height=24, channels=3)


@pytest.fixture(scope="module")
def detecting():
    bundle = box_model()
    with serving(ShownModel(bundle, "boxes")) as address:
        yield bundle, address


@pytest.fixture
def shown(page, detecting):
    choose(page)
    page.goto(detecting[1])  # the first page of a model that finds objects
    page.locator("[data-objects]").wait_for()
    page.locator("input[type=file]").set_input_files({"name": "x.png", "mimeType": "image/png", "buffer": FILE})
    page.locator("svg[viewBox='0 0 40 24']").wait_for()
    settled(page)
    return page


def said(bundle, threshold):
    [found] = Detector(bundle).detect([np.asarray(Image.open(io.BytesIO(FILE)))], threshold=threshold)
    return found.objects


def test_the_boxes_drawn_are_those_of_detect_at_any_threshold(shown, detecting):
    for threshold in (None, 0.6):
        if threshold is not None:
            shown.get_by_label("Least score").fill(str(threshold))
            shown.wait_for_function("() => !document.querySelector('[aria-busy=true]')")
            shown.locator(f"[data-objects='{len(said(detecting[0], threshold))}']").wait_for()
        wanted = said(detecting[0], threshold)
        drawn = shown.locator("[data-object] rect:last-child").all()
        assert len(drawn) == len(wanted) > 0
        for rect, one in list(zip(drawn, wanted, strict=True))[::7]:
            left, top, right, bottom = one.box
            numbers = [float(rect.get_attribute(name)) for name in ("x", "y", "width", "height")]
            assert numbers == pytest.approx([left, top, max(0, right - left), max(0, bottom - top)], abs=1e-4)


def test_the_keyboard_goes_from_object_to_object_and_shows_who_speaks(shown, detecting):
    first = said(detecting[0], None)[0]
    shown.locator("[data-key=boxed]").focus()
    shown.keyboard.press("ArrowRight")
    settled(shown)
    assert shown.locator("[data-query]").get_attribute("data-query") == str(first.patch)
    assert shown.locator("[data-place]").get_attribute("data-place") == str(first.patch)
    assert f"{first.label} {first.score:.3f}" in shown.locator("[data-part=objects] .readout").inner_text()
    shown.locator("[data-part=query] .photo-grid").focus()
    shown.keyboard.press("ArrowRight" if first.patch % 4 < 3 else "ArrowLeft")
    settled(shown)
    there = shown.locator("[data-query]").get_attribute("data-query")
    assert there == str(first.patch + (1 if first.patch % 4 < 3 else -1))
    assert shown.locator("[data-box=query]").count() == 1


def test_nothing_found_is_said_with_the_best_score(shown):
    shown.get_by_label("Least score").fill("0.99")
    shown.locator("[data-objects='0']").wait_for()
    assert "Nothing reaches this score" in shown.locator("[data-part=objects] .caption").inner_text()
    shown.get_by_text("As the model's folder says").click()
    shown.locator("[data-objects='0']").wait_for(state="detached")


def test_figures_can_be_taken_along(shown, detecting):
    for kind, begins in (("SVG", b"<?xml"), ("CSV", b"object,class,score,left")):
        with shown.expect_download() as saved:
            shown.locator("[data-part=objects] .figure-tools button", has_text=kind).click()
        content = saved.value.path().read_bytes()
        assert content.startswith(begins)
    assert len(content.splitlines()) == 1 + len(said(detecting[0], None))


def test_bad_files_are_told_in_place(shown):
    shown.locator("input[type=file]").set_input_files({"name": "x.png", "mimeType": "image/png", "buffer": b"none"})
    shown.locator("[data-part=boxes] .message").wait_for()
    assert "cannot be read as a picture" in shown.locator(".message").inner_text()
    assert shown.locator("[data-objects]").count() == 0


@pytest.mark.timeout(300)
def test_axe_finds_nothing_in_both_languages_and_themes(browser, detecting):
    passes_axe(browser, f"{detecting[1]}/#/boxes", "[data-part=attention] .photo-grid")
