"""Boxes drawn over a picture: where they belong, with their names, whatever the picture's size."""

import io
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from clearformer.figures.box_drawing import DrawnBox, draw_png, draw_svg
from clearformer.figures.palette import series_style

SVG = "{http://www.w3.org/2000/svg}"
BOXES = [DrawnBox((40.0, 30.0, 90.0, 70.0), "cell 0.91", 0), DrawnBox((5.0, 5.0, 20.0, 95.0), "<odd> & 0.50", 1)]


def pixels(height=100, width=120, channels=3):
    return np.full((height, width, channels), 200, np.uint8)


def colour(number):
    return tuple(int(series_style(number)[0][place : place + 2], 16) for place in (1, 3, 5))


def test_the_edges_have_the_colour_of_the_class_and_the_inside_is_left():
    image = Image.open(io.BytesIO(draw_png(pixels(), BOXES)))
    assert image.size == (120, 100)
    for x, y in ((60, 30), (60, 69), (40, 50), (89, 50)):
        assert image.getpixel((x, y)) == colour(0)
    assert image.getpixel((10, 94)) == colour(1)
    assert image.getpixel((65, 50)) == (200, 200, 200)


def test_svg_has_the_same_boxes_and_words_that_are_no_markup():
    root = ET.fromstring(draw_svg(pixels(), BOXES, "a & b"))
    assert root.get("viewBox") == "0 0 120 100"
    assert root.findtext(f"{SVG}title") == "a & b"
    drawn = [one for one in root.iter(f"{SVG}rect") if one.get("fill") == "none"]
    assert [(one.get("x"), one.get("width")) for one in drawn] == [("5.0", "15.0"), ("40.0", "50.0")]
    assert [one.text for one in root.iter(f"{SVG}text")] == ["<odd> & 0.50", "cell 0.91"]
    assert len({one.get("stroke") for one in drawn}) == 2


@pytest.mark.parametrize(("height", "width", "channels"), [(1, 1, 3), (3, 400, 1), (900, 30, 3)])
def test_any_picture_can_be_drawn_on(height, width, channels):
    box = DrawnBox((0.0, 0.0, float(width), float(height)), "whole", 30)
    assert Image.open(io.BytesIO(draw_png(pixels(height, width, channels), [box]))).size == (width, height)
    assert ET.fromstring(draw_svg(pixels(height, width, channels), [box], "t")) is not None


def test_labels_stay_inside():
    low = [DrawnBox((100.0, 0.0, 120.0, 20.0), "a long name 0.99", 0)]
    root = ET.fromstring(draw_svg(pixels(), low, "t"))
    ground = next(one for one in root.iter(f"{SVG}rect") if one.get("fill") != "none")
    assert float(ground.get("x")) >= 0
    assert float(ground.get("y")) >= 0
