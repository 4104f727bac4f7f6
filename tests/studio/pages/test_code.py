"""An autoencoder in the browser: its own code and pictures, sliders by keyboard, both languages, files to keep."""

import io

import numpy as np
import pytest
from PIL import Image

from clearformer.inference.reconstructor import Reconstructor
from clearformer.studio.shown_model import ShownModel
from studio.browsing import BROWSER, choose, passes_axe, pixels_of, serving, settled
from studio.small_pictures import code_model, picture_file

pytestmark = BROWSER
FILE = picture_file(channels=3)


@pytest.fixture(scope="module")
def coding():
    bundle = code_model()
    with serving(ShownModel(bundle, "code")) as address:
        yield bundle, address


@pytest.fixture
def shown(page, coding):
    choose(page)
    page.goto(coding[1])  # the first page of an autoencoder
    page.locator("[data-error]").wait_for()
    settled(page)
    page.locator("input[type=file]").set_input_files({"name": "x.png", "mimeType": "image/png", "buffer": FILE})
    page.locator(f"[data-error='{said(coding[0]).error:.9g}']").wait_for()
    settled(page)
    return page


def said(bundle):
    return Reconstructor(bundle).reconstruct([np.asarray(Image.open(io.BytesIO(FILE)))])[0]


def test_the_picture_from_its_code_is_that_of_reconstruct(shown, coding):
    assert np.array_equal(pixels_of(shown, "[data-drawn] canvas", colours=True), said(coding[0]).pixels)
    assert shown.locator("input[data-dimension]").count() == 5


def test_a_slider_moves_one_number_by_the_keyboard_and_back(shown, coding):
    found = said(coding[0])
    field = shown.locator("input[data-dimension='2']")
    reach = float(field.get_attribute("max"))
    field.focus()
    settled(shown)
    shown.locator("[data-part=dimension] [data-dimension='2']").wait_for()
    shown.keyboard.press("ArrowRight")
    shown.locator("[data-drawn='1']").wait_for()
    settled(shown)
    moved = np.array([found.code], dtype=np.float32)
    moved[0, 2] += reach / 20
    [wanted] = Reconstructor(coding[0]).decode(moved)
    drawn = pixels_of(shown, "[data-drawn] canvas", colours=True).astype(int)
    assert np.abs(drawn - wanted).max() <= 1  # the page counts in float64
    shown.get_by_role("button", name="As it was read").click()
    shown.locator("[data-drawn='0']").wait_for()


def test_a_dimension_is_drawn_from_low_to_high(shown, coding):
    reach = float(shown.locator("input[data-dimension='0']").get_attribute("max"))
    shown.get_by_label("Dimension", exact=True).select_option("3")
    shown.locator("[data-part=dimension] [data-dimension='3']").wait_for()
    settled(shown)
    codes = np.array([said(coding[0]).code] * 2, dtype=np.float32)
    codes[:, 3] = [-reach, reach]
    low, high = Reconstructor(coding[0]).decode(codes)
    for place, wanted in ((1, low), (9, high)):
        assert np.array_equal(pixels_of(shown, f".film .frame:nth-child({place}) canvas", colours=True), wanted)


def test_figures_can_be_taken_along(shown):
    for kind, begins in (("SVG", b"<?xml"), ("CSV", b"Dimension,value,moved to")):
        with shown.expect_download() as saved:
            shown.locator("[data-part=numbers] .figure-tools button", has_text=kind).click()
        assert saved.value.path().read_bytes().startswith(begins)


@pytest.mark.timeout(300)
def test_axe_finds_nothing_in_both_languages_and_themes(browser, coding):
    passes_axe(browser, f"{coding[1]}/#/code", "[data-part=dimension] .frame")
