"""A painter in the browser: its own pictures and steps, by mouse and keyboard, both languages, files to keep."""

import numpy as np
import pytest

from clearformer.inference.painter import Painter
from clearformer.studio.shown_model import ShownModel
from inference.test_painter import made
from studio.browsing import BROWSER, choose, passes_axe, pixels_of, serving, settled

pytestmark = BROWSER


@pytest.fixture(scope="module", params=["flow", "hidden-places"])
def painting(request):
    bundle = made(request.param)
    with serving(ShownModel(bundle, "painter")) as address:
        yield bundle, address


@pytest.fixture
def shown(page, painting):
    choose(page)
    page.goto(painting[1])  # the first page of a model that paints
    page.locator("[data-step]").wait_for()
    settled(page)
    return page


def drawn(page, place):
    return pixels_of(page, f"[data-key=painted-{place}] canvas")


def test_the_pictures_are_those_of_paint_as_the_form_says(shown, painting):
    shown.get_by_label("Pictures", exact=True).fill("2")
    shown.get_by_label("Seed").fill("5")
    shown.get_by_label("Steps", exact=True).fill("3")
    shown.get_by_label("Class", exact=True).select_option("owl")
    shown.locator("[data-label=owl]").wait_for()
    settled(shown)
    shown.get_by_role("button", name="Paint", exact=True).click()
    settled(shown)
    said = Painter(painting[0]).paint("owl", count=2, seed=5, steps=3)
    for place, one in enumerate(said):
        assert np.array_equal(drawn(shown, place), one.pixels[..., 0])
    assert shown.locator(".film .frame").count() == 3


def test_the_keyboard_goes_from_step_to_step_and_picture_to_picture(shown, painting):
    steps = []
    Painter(painting[0]).paint("cat", count=6, seed=1, on_step=steps.append)
    bar = shown.locator("[data-key=paint-step]")
    bar.focus()
    shown.keyboard.press("Home")
    shown.locator("[data-step='1']").wait_for()
    assert shown.evaluate("() => document.activeElement.dataset.key") == "paint-step"
    shown.keyboard.press("ArrowRight")
    shown.locator("[data-step='2']").wait_for()
    shown.locator("[data-key=painted-3]").focus()
    shown.keyboard.press("Enter")
    best = steps[1].guesses or steps[1].pictures
    large = pixels_of(shown, ".large-frame:last-child canvas")
    scale = large.shape[0] // 8
    seen, hidden = large[scale // 2 :: scale, scale // 2 :: scale], steps[1].hidden
    there = np.ones((8, 8), bool) if hidden is None else ~hidden[3].reshape(4, 4).repeat(2, 0).repeat(2, 1)
    assert np.array_equal(seen[there], best[3][..., 0][there])


def test_figures_can_be_taken_along(shown):
    for kind, begins in (("SVG", b"<?xml"), ("CSV", b"step,share of the way,distance")):
        with shown.expect_download() as saved:
            shown.locator("[data-step] .figure-tools").first.locator("button", has_text=kind).click()
        assert saved.value.path().read_bytes().startswith(begins)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("painting", ["flow"], indirect=True)
def test_axe_finds_nothing_in_both_languages_and_themes(browser, painting):
    passes_axe(browser, f"{painting[1]}/#/paint", "[data-step]")
