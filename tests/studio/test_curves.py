"""Training runs as lines."""

import math
from xml.etree import ElementTree

import pytest

from clearformer.studio.curves import Curves

SVG = "{http://www.w3.org/2000/svg}"
ONE = {"train_loss": [(1, 5.0), (2, 4.0), (3, 3.5)], "bleu": [(3, 20.0)]}


def test_a_line_a_run_and_a_dot_where_there_is_one_point():
    tree = ElementTree.fromstring(Curves({"a": ONE, "b": ONE}).svg("two runs"))
    lines = list(tree.iter(f"{SVG}polyline"))
    assert len(lines) == 2
    assert len({line.get("stroke") for line in lines}) == 2
    assert len(list(tree.iter(f"{SVG}circle"))) == 2
    assert {"a", "b", "training loss", "development BLEU"} <= {element.text for element in tree.iter(f"{SVG}text")}


def test_lower_values_stand_lower():
    [line] = ElementTree.fromstring(Curves({"a": ONE}).svg("")).iter(f"{SVG}polyline")
    heights = [float(point.split(",")[1]) for point in line.get("points").split()]
    assert heights == sorted(heights), "a falling loss: further down the page"


def test_what_is_no_number_is_left_out_of_the_line_but_not_of_the_table():
    curves = Curves({"a": {"train_loss": [(1, 2.0), (2, math.nan), (3, 1.0)]}})
    [line] = ElementTree.fromstring(curves.svg("")).iter(f"{SVG}polyline")
    assert len(line.get("points").split()) == 2
    assert len(curves.table().rows) == 3


def test_a_flat_line_can_be_drawn():
    [line] = ElementTree.fromstring(Curves({"a": {"learning_rate": [(1, 0.0), (2, 0.0)]}}).svg("")).iter(
        f"{SVG}polyline"
    )
    first, second = (point.split(",") for point in line.get("points").split())
    assert first[1] == second[1]
    assert first[0] != second[0]


def test_nothing_recorded_is_said():
    with pytest.raises(ValueError, match="nothing was recorded yet"):
        Curves({"a": {}})
