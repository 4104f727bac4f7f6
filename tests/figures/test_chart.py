"""A chart is well-formed, in scale, and harmless whatever the names are."""

import math
from xml.etree import ElementTree

import pytest

from clearformer.figures.chart import Plot, Plots, chart
from clearformer.figures.palette import SERIES

SVG = "{http://www.w3.org/2000/svg}"


def lines_of(drawn):
    return list(ElementTree.fromstring(drawn).iter(f"{SVG}polyline"))


def points_of(line):
    return [tuple(map(float, point.split(","))) for point in line.get("points").split()]


def said(drawn):
    return {element.text for element in ElementTree.fromstring(drawn).iter(f"{SVG}text")}


def test_every_line_is_drawn_and_named():
    drawn = chart("T", "x", "y", {"a < b & c": [(8, 1.0), (16, 2.0)], "d": [(8, 3.0)]})
    assert len(lines_of(drawn)) == 1
    assert len(list(ElementTree.fromstring(drawn).iter(f"{SVG}circle"))) == 3
    assert {"a < b & c", "d", "T", "x", "y"} <= said(drawn)


def test_a_long_name_widens_the_picture():
    def width(name):
        return float(ElementTree.fromstring(chart("T", "x", "y", {name: [(8, 1.0)]})).attrib["viewBox"].split()[2])

    assert width("a" * 60) - width("a" * 10) > 50 * 5, "or its end would be cut off"


@pytest.mark.parametrize("straight", [False, True])
def test_more_is_higher_and_further_right(straight):
    [line] = lines_of(chart("T", "x", "y", {"a": [(16, 2.0), (8, 1.0)]}, straight=straight))
    (x1, y1), (x2, y2) = points_of(line)
    assert x1 < x2
    assert y1 > y2


def test_a_series_has_one_look_in_all_plots():
    plots = [
        Plot(x_label="step", title=name, series={"a": [(1, 1.0), (2, 2.0)], "b": [(1, 2.0), (2, 1.0)]}) for name in "pq"
    ]
    drawn = Plots(plots=plots).svg("two plots")
    assert [line.get("stroke") for line in lines_of(drawn)] == [*SERIES[:2], *SERIES[:2]]
    assert {"p", "q", "a", "b", "two plots"} <= said(drawn)


def test_what_is_no_number_is_left_out_of_the_line():
    plot = Plot(
        x_label="step", series={"a": [(1, 2.0), (2, math.nan), (3, 1.0), (4, math.inf)], "b": [], "c": [(1, 1.0)]}
    )
    [line] = lines_of(Plots(plots=[plot]).svg(""))
    assert len(points_of(line)) == 2


def test_a_flat_line_can_be_drawn():
    [line] = lines_of(Plots(plots=[Plot(x_label="step", series={"a": [(1, 0.0), (2, 0.0)]})]).svg(""))
    (x1, y1), (x2, y2) = points_of(line)
    assert y1 == y2
    assert x1 < x2


def test_many_runs_have_room_in_the_legend():
    names = [f"a run with a long name {number}" for number in range(12)]
    drawn = Plots(plots=[Plot(x_label="x", series={name: [(1, 1.0), (2, 2.0)] for name in names})]).svg("many")
    tree = ElementTree.fromstring(drawn)
    places = [(float(e.get("x")), float(e.get("y"))) for e in tree.iter(f"{SVG}text") if e.text in names]
    assert len(set(places)) == 12
    assert max(y for _, y in places) < float(tree.get("height"))
    assert max(x for x, _ in places) + 6 * len(names[0]) < float(tree.get("width")) + 20
