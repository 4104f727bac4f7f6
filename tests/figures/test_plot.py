"""A chart is well-formed, in scale, and harmless whatever the names are."""

from xml.etree import ElementTree

import pytest

from clearformer.figures.plot import Scale, Straight, chart

SVG = "{http://www.w3.org/2000/svg}"


def test_equal_ratios_are_equal_distances():
    scale = Scale([1, 100], 0, 200)
    assert [scale.place(value) for value in (1, 10, 100)] == pytest.approx([0, 100, 200])


def test_ticks_are_round_and_inside():
    assert list(Scale([8, 512], 0, 1).ticks()) == pytest.approx([10, 20, 50, 100, 200, 500])


def test_a_single_value_stands_in_the_middle():
    assert Scale([5, 5], 0, 10).place(5) == pytest.approx(5)


@pytest.mark.parametrize("values", [[], [0.0, 1.0], [-1.0]])
def test_a_logarithmic_axis_needs_numbers_above_zero(values):
    with pytest.raises(ValueError, match="above zero"):
        Scale(values, 0, 1)


def test_every_line_is_drawn_and_named():
    drawn = ElementTree.fromstring(chart("T", "x", "y", {"a < b & c": [(8, 1.0), (16, 2.0)], "d": [(8, 3.0)]}))
    assert len(drawn.findall(f"{SVG}polyline")) == 2
    assert {"a < b & c", "d", "T", "x"} <= {text.text for text in drawn.findall(f"{SVG}text")}


def test_a_long_name_widens_the_picture():
    def width(name):
        return float(ElementTree.fromstring(chart("T", "x", "y", {name: [(8, 1.0)]})).attrib["viewBox"].split()[2])

    assert width("a" * 60) - width("a" * 10) > 50 * 5, "or its end would be cut off"


def test_more_is_higher_and_further_right():
    drawn = ElementTree.fromstring(chart("T", "x", "y", {"a": [(16, 2.0), (8, 1.0)]}))
    line = drawn.find(f"{SVG}polyline")
    assert line is not None
    (x1, y1), (x2, y2) = (map(float, place.split(",")) for place in line.attrib["points"].split())
    assert x1 < x2
    assert y1 > y2


def test_on_a_straight_axis_equal_differences_are_equal_distances():
    axis = Straight([36.2, 40.9], 0, 100)
    assert list(axis.ticks()) == [36, 37, 38, 39, 40, 41]
    assert axis.place(38) - axis.place(37) == pytest.approx(axis.place(41) - axis.place(40))
    assert Straight([3, 3], 0, 1).high > 3, "a single value needs room, too"
    ElementTree.fromstring(chart("T", "x", "BLEU", {"a": [(10, 36.2), (100, 40.9)]}, straight=True))
