"""Numbers as lengths."""

import re
from xml.etree import ElementTree

import pytest

from clearformer.figures.bars import LONGEST, Bar, Bars


def lengths(svg):
    return [float(width) for width in re.findall(r'<rect x="[^"]*" y="[^"]*" width="([\d.]+)"', svg)]


def test_lengths_are_proportional():
    svg = Bars(bars=[Bar("a", 1.0), Bar("b", 4.0)]).svg("Two")
    assert lengths(svg) == [LONGEST / 4, LONGEST]
    ElementTree.fromstring(svg)


def test_negative_numbers_point_to_the_left():
    svg = Bars(bars=[Bar("down", -1.0), Bar("up", 1.0)]).svg("Both")
    left, right = (float(x) for x in re.findall(r'<rect x="([\d.]+)" y="[^"]*" width="[\d.]+"', svg))
    assert left + LONGEST / 2 == pytest.approx(right, abs=0.2)
    assert "−1" in svg


@pytest.mark.parametrize("values", [[0.0], [0.0, 0.0], [-3.0]])
def test_extremes(values):
    ElementTree.fromstring(Bars(bars=[Bar("<x>", value) for value in values]).svg("Edge"))


def test_large_numbers_have_commas():
    assert "17,953" in Bars(bars=[Bar("nl", 17953.0)]).svg("Ids")
