"""A segmenter in the browser: its own masks, things by mouse and keyboard, both languages, files to keep."""

import io

import numpy as np
import pytest
from PIL import Image

from clearformer.inference.segmenter import Segmenter
from clearformer.studio.shown_model import ShownModel
from studio.browsing import BROWSER, choose, passes_axe, pixels_of, serving, settled
from studio.small_pictures import mask_model, picture_file

pytestmark = BROWSER
FILE = picture_file(width=40, height=24)


@pytest.fixture(scope="module", params=["instances", "classes"])
def segmenting(request):
    bundle = mask_model(request.param)
    with serving(ShownModel(bundle, "masks")) as address:
        yield bundle, address


@pytest.fixture
def shown(page, segmenting):
    choose(page)
    page.goto(segmenting[1])  # the first page of a model that draws masks
    page.locator("[data-things]").wait_for()
    page.locator("input[type=file]").set_input_files({"name": "x.png", "mimeType": "image/png", "buffer": FILE})
    page.locator("[data-key=mask][width='40']").wait_for()
    page.locator("[data-part=attention] .photo-grid").wait_for()
    settled(page)
    return page


def said(bundle, **changes):
    return Segmenter(bundle).segment([pixels()], **changes)[0]


def pixels():
    return np.asarray(Image.open(io.BytesIO(FILE)))[..., None]


def test_the_mask_drawn_is_that_of_segment(shown, segmenting):
    found = said(segmenting[0])
    assert shown.locator("[data-things]").get_attribute("data-things") == str(len(found))
    colours = pixels_of(shown, "[data-key=mask]", colours=True).astype(int)
    grey = (colours == colours[..., :1]).all(axis=2)  # where nothing lies over the picture
    if found.instances:
        assert np.array_equal(grey, found.mask == 0)
    else:
        assert not grey.any()  # every pixel has a class
    for one in found.found[:3]:  # a thing's outline has one colour
        inside = found.mask == one.number
        padded = np.pad(found.mask, 1, mode="edge")
        edge = inside & (
            (padded[:-2, 1:-1] != found.mask)
            | (padded[2:, 1:-1] != found.mask)
            | (padded[1:-1, :-2] != found.mask)
            | (padded[1:-1, 2:] != found.mask)
        )
        assert len(np.unique(colours[edge], axis=0)) == 1


def test_another_threshold_draws_another_mask(shown, segmenting):
    if segmenting[0].preprocessing.masks.kind == "classes":
        assert shown.get_by_label("Least probability of a thing").count() == 0
        return
    shown.get_by_label("Least probability of a thing").fill("0.3")
    settled(shown)
    wanted = said(segmenting[0], threshold=0.3)
    shown.locator(f"[data-things='{len(wanted)}']").wait_for()
    colours = pixels_of(shown, "[data-key=mask]", colours=True).astype(int)
    assert np.array_equal((colours == colours[..., :1]).all(axis=2), wanted.mask == 0)


def test_the_keyboard_goes_from_thing_to_thing(shown, segmenting):
    found = said(segmenting[0]).found
    shown.locator("[data-key=mask]").focus()
    shown.keyboard.press("ArrowRight")
    readout = shown.locator("[data-part=mask] .readout")
    assert f"{found[0].area:,} pixels" in readout.inner_text()
    if len(found) > 1:
        shown.keyboard.press("ArrowRight")
        assert f"{found[1].area:,} pixels" in readout.inner_text()


def test_what_the_network_says_can_be_taken_along(shown, segmenting):
    values = Segmenter(segmenting[0]).values(pixels())[1].numpy()
    shown.get_by_label("Channel").select_option("1")
    settled(shown)
    with shown.expect_download() as saved:
        shown.locator("[data-part=channel] .figure-tools button", has_text="CSV").click()
    lines = saved.value.path().read_text(encoding="utf-8").splitlines()[1:]
    numbers = np.array([[float(one) for one in line.split(",")[1:]] for line in lines])
    assert np.allclose(numbers, values, atol=1e-6)


def test_a_tile_s_patch_is_followed_by_the_keyboard(shown):
    shown.get_by_label("Tile").select_option("1")
    settled(shown)
    shown.locator("[data-part=attention] .photo-grid").focus()
    shown.keyboard.press("ArrowLeft")
    settled(shown)
    assert shown.locator("[data-place]").get_attribute("data-place") == "9"
    assert "row 3, column 2" in shown.locator("[data-part=attention] h3").inner_text()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("segmenting", ["instances"], indirect=True)
def test_axe_finds_nothing_in_both_languages_and_themes(browser, segmenting):
    passes_axe(browser, f"{segmenting[1]}/#/masks", "[data-part=attention] .photo-grid")
