"""A picture in the browser: the model's own numbers, patches by mouse and keyboard, both languages, files to keep."""

import io

import numpy as np
import pytest
import torch
from PIL import Image

from clearformer.data.readers.pictures import fit_square
from clearformer.inference.picture_classifier import PictureClassifier, as_tensor
from clearformer.model.trace import trace
from clearformer.studio.app import STATIC
from clearformer.studio.shown_model import ShownModel
from studio.browsing import BROWSER, choose, passes_axe, serving, settled
from studio.small_pictures import picture_file, picture_model

pytestmark = BROWSER


@pytest.fixture(scope="module")
def pictures():
    bundle = picture_model()
    with serving(ShownModel(bundle, "pictures")) as address:
        yield bundle, address


@pytest.fixture
def shown(page, pictures):
    choose(page)
    page.goto(pictures[1])  # the first page of a model of pictures
    page.locator("[data-label]").wait_for()
    page.locator("input[type=file]").set_input_files(
        {"name": "some.png", "mimeType": "image/png", "buffer": picture_file()}
    )
    page.get_by_text("30 × 20 pixels were given").wait_for()
    settled(page)
    return page


def maps_of(bundle):
    """The weights of every layer for the same file."""
    whole = np.asarray(Image.open(io.BytesIO(picture_file())))[..., None]
    given = as_tensor([fit_square(whole, 12, 1)], bundle.preprocessing.picture)
    with trace(bundle.model, only=["*.self_attn.weights"]) as seen, torch.inference_mode():
        bundle.model(given)
    return [seen[f"encoder.layers.{layer}.self_attn.weights"][0] for layer in range(2)]


def heat(page):
    cells = page.locator("[data-part=attention] rect[data-weight]")
    return [float(cell.get_attribute("data-weight")) for cell in cells.all()]


def test_the_example_is_looked_at_at_once_and_a_file_after_it(page, pictures):
    bundle, address = pictures
    choose(page)
    page.goto(address)
    page.locator("[data-label]").wait_for()
    [said] = PictureClassifier(bundle).classify(STATIC / "digit-two.png")
    assert page.locator("[data-label]").get_attribute("data-label") == said.label
    page.locator("[data-example='/digit-seven.png']").click()
    settled(page)
    [said] = PictureClassifier(bundle).classify(STATIC / "digit-seven.png")
    assert page.locator("[data-label]").get_attribute("data-label") == said.label


def test_attention_over_the_patches_is_the_model_s_own(shown, pictures):
    maps = maps_of(pictures[0])
    assert heat(shown) == pytest.approx(maps[1].mean(0)[0, 1:].tolist(), abs=2e-6)  # the class token, the last layer
    shown.locator("[data-key=head-2]").click()
    shown.get_by_label("Layer", exact=True).select_option("0")
    settled(shown)
    shown.locator("[data-part=attention] [data-key=head-2][aria-pressed=true]").wait_for()
    assert heat(shown) == pytest.approx(maps[0][2, 0, 1:].tolist(), abs=2e-6)


def test_the_keyboard_chooses_patches(shown, pictures):
    grid = shown.locator("[data-part=attention] .photo-grid")
    grid.focus()
    shown.keyboard.press("ArrowDown")  # the first patch
    settled(shown)
    shown.keyboard.press("ArrowRight")
    settled(shown)
    assert "row 1, column 2" in shown.locator("[data-part=attention] h3").inner_text()
    assert heat(shown) == pytest.approx(maps_of(pictures[0])[1].mean(0)[2, 1:].tolist(), abs=2e-6)
    shown.locator("[data-key=class-token]").click()
    settled(shown)
    assert heat(shown) == pytest.approx(maps_of(pictures[0])[1].mean(0)[0, 1:].tolist(), abs=2e-6)


def test_a_patch_s_sum_is_computed_again_on_the_page(shown):
    shown.locator("[data-part=picture] .photo-grid").click(position={"x": 10, "y": 10})
    settled(shown)
    shown.get_by_label("Feature of the output").fill("7")
    shown.get_by_label("Feature of the output").press("Enter")
    settled(shown)
    assert shown.locator("[data-place]").get_attribute("data-place") == "1"
    checked = shown.locator("[data-part=token] .checked")
    assert float(checked.get_attribute("data-own")) == pytest.approx(
        float(checked.get_attribute("data-again")), abs=1e-5
    )
    shown.get_by_text("Follow the class token instead").click()
    settled(shown)
    assert shown.locator("[data-place]").get_attribute("data-place") == "0"


def test_a_digit_can_be_written_on_the_page(shown):
    shown.get_by_text("Or write a digit yourself").click()
    box = shown.locator(".pad").bounding_box()
    shown.mouse.move(box["x"] + 60, box["y"] + 40)
    shown.mouse.down()
    shown.mouse.move(box["x"] + 60, box["y"] + 150, steps=5)
    shown.mouse.up()
    shown.get_by_text("196 × 196 pixels were given").wait_for()


def test_bad_and_large_files_are_told_in_place(shown):
    field = shown.locator("input[type=file]")
    field.set_input_files({"name": "x.png", "mimeType": "image/png", "buffer": b"no picture at all"})
    shown.locator("[data-part=picture] .message").wait_for()
    assert "cannot be read as a picture" in shown.locator("[data-part=picture] .message").inner_text()
    field.set_input_files({"name": "x.png", "mimeType": "image/png", "buffer": b"x" * 12_000_001})
    shown.locator(".drop .message").wait_for()
    assert "12,000,000" in shown.locator(".drop .message").inner_text()
    field.set_input_files({"name": "x.png", "mimeType": "image/png", "buffer": picture_file()})
    shown.locator("[data-label]").wait_for()
    assert shown.locator(".message").count() == 0


@pytest.mark.parametrize(("kind", "begins"), [("PNG", b"\x89PNG"), ("SVG", b"<?xml"), ("CSV", b"token,row,column")])
def test_figures_can_be_taken_along(shown, kind, begins):
    with shown.expect_download() as saved:
        shown.locator("[data-part=attention] .figure-tools button", has_text=kind).click()
    content = saved.value.path().read_bytes()
    assert content.startswith(begins)
    if kind == "SVG":
        assert b"data:image/png;base64" in content
        assert content.count(b"data-weight") == 9
    if kind == "CSV":
        assert len(content.splitlines()) == 11


@pytest.mark.timeout(300)
def test_axe_finds_nothing_in_both_languages_and_themes(browser, pictures):
    def open_pad(page):
        page.locator(".pad-holder summary").click()

    passes_axe(browser, f"{pictures[1]}/#/picture", "[data-part=attention] .photo-grid", open_pad)


def test_pages_about_texts_are_not_offered_but_say_why_they_are_empty(shown, pictures):
    names = [link.get_attribute("href") for link in shown.locator("nav a").all()]
    assert names == ["#/picture", "#/training", "#/model", "#/positions", "#/lab"]
    for name in ("training", "model", "positions", "why", "next"):
        shown.goto(f"{pictures[1]}/#/{name}")
        settled(shown)
        assert shown.locator(".message").count() == 0, name
