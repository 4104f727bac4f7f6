"""Matrices as pictures that stand alone."""

import csv
import io
import json
from itertools import pairwise
from xml.etree import ElementTree

from clearformer.figures.matrices import Matrices, Panel
from clearformer.figures.palette import shade

PANEL = Panel(title="a <b> & c", rows=["x", "“y”"], columns=["1", "2", "3"], values=[[0.0, 0.5, 1.0], [0.1, 0.2, 0.7]])


def test_the_svg_is_xml_with_a_cell_a_value_and_names():
    tree = ElementTree.fromstring(Matrices(panels=[PANEL]).svg("A & B"))
    texts = [element.text for element in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert {"x", "“y”", "1", "2", "3", "A & B", "0"} <= set(texts)
    fills = [element.get("fill") for element in tree.iter("{http://www.w3.org/2000/svg}rect")]
    assert shade(0.5, signed=False) in fills


def test_many_panels_stand_side_by_side():
    tree = ElementTree.fromstring(Matrices(panels=[PANEL] * 5, across=2).svg("five"))
    corners = {
        (e.get("x"), e.get("y")) for e in tree.iter("{http://www.w3.org/2000/svg}rect") if e.get("fill") == "none"
    }
    assert len(corners) == 5
    assert len({x for x, _ in corners}) == 2


def test_tables_hold_every_digit():
    rows = list(csv.DictReader(io.StringIO(Matrices(panels=[PANEL]).csv())))
    assert [float(row["value"]) for row in rows] == [value for row in PANEL.values for value in row]
    assert json.loads(Matrices(panels=[PANEL]).json())["figures"][0]["values"] == PANEL.values


def test_the_darkest_colour_is_the_largest_number_of_signed_values_and_one_for_shares():
    def fills(values, *, signed):
        panel = Panel(title="", rows=["r"], columns=["a", "b"], values=[values], signed=signed)
        tree = ElementTree.fromstring(Matrices(panels=[panel]).svg(""))
        return [element.get("fill") for element in tree.iter("{http://www.w3.org/2000/svg}rect")][1:3]

    assert fills([-3.0, 1.5], signed=True) == [shade(-1, signed=True), shade(0.5, signed=True)]
    assert fills([0.2, 0.4], signed=False) == [shade(0.2, signed=False), shade(0.4, signed=False)]
    assert fills([0.0, 0.0], signed=True) == [shade(0, signed=True)] * 2


def test_names_have_room():
    def width(name):
        panel = Panel(title="", rows=[name], columns=["a"], values=[[1.0]])
        return float(ElementTree.fromstring(Matrices(panels=[panel]).svg("")).get("width"))

    assert width("a" * 90) - width("a" * 60) > 30 * 5, "or its beginning would be cut off"


def test_names_of_small_cells_do_not_run_together():
    names = [str(number) for number in range(64)]
    panel = Panel(title="", rows=names, columns=names, values=[[0.0] * 64] * 64)
    tree = ElementTree.fromstring(Matrices(panels=[panel], cell=5.0).svg(""))
    rows = sorted(float(e.get("y")) for e in tree.iter() if e.get("text-anchor") == "end" and e.text in names[2:])
    assert min(after - before for before, after in pairwise(rows)) >= 14
