"""Confusions as a picture: every count is in its cell, and Chinese names have room."""

import csv
import io
import json
from xml.etree import ElementTree

from clearformer.figures.confusion_figure import ConfusionFigure
from clearformer.figures.palette import shade
from clearformer.figures.sheet import breadth

FIGURE = ConfusionFigure(labels=["<good>", "坏"], counts=[[30, 10], [0, 7]])


def test_the_svg_has_counts_and_names():
    tree = ElementTree.fromstring(FIGURE.svg("a & b"))
    texts = [element.text for element in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert {"<good>", "坏", "30", "10", "7", "a & b"} <= set(texts)
    assert "0" not in texts  # an empty cell is empty
    fills = [element.get("fill") for element in tree.iter("{http://www.w3.org/2000/svg}rect")]
    assert fills.count(shade(0.75, signed=False)) == 1
    assert fills.count(shade(1.0, signed=False)) == 1  # a row's share: the rare class is as dark as it is right


def test_the_numbers_are_there_in_two_forms():
    rows = list(csv.DictReader(io.StringIO(FIGURE.csv())))
    assert [int(row["count"]) for row in rows] == [30, 10, 0, 7]
    assert json.loads(FIGURE.json())["counts"] == [[30, 10], [0, 7]]


def test_long_names_are_shortened_and_wide_letters_are_wide():
    assert breadth("电影") > breadth("ab")
    drawn = ConfusionFigure(labels=["x" * 300, "y"], counts=[[1, 0], [0, 1]]).svg("t")
    assert "x" * 60 not in drawn
    assert "…" in drawn
