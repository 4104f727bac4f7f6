"""Matrices as pictures that stand alone."""

import csv
import io
import json
from xml.etree import ElementTree

import torch

from clearformer.studio.matrices import Matrices, Panel, colour

PANEL = Panel(
    title="a <b> & c", rows=["x", "“y”"], columns=["1", "2", "3"], values=torch.tensor([[0, 0.5, 1], [0.1, 0.2, 0.7]])
)


def test_the_svg_is_xml_with_a_cell_a_value_and_names():
    tree = ElementTree.fromstring(Matrices(panels=[PANEL]).svg("A & B"))
    texts = [element.text for element in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert {"x", "“y”", "1", "2", "3", "A & B", "0"} <= set(texts)
    fills = [element.get("fill") for element in tree.iter("{http://www.w3.org/2000/svg}rect")]
    assert colour(0.5, signed=False) in fills


def test_many_panels_stand_side_by_side():
    tree = ElementTree.fromstring(Matrices(panels=[PANEL] * 5, across=2).svg("five"))
    corners = {
        (e.get("x"), e.get("y")) for e in tree.iter("{http://www.w3.org/2000/svg}rect") if e.get("fill") == "none"
    }
    assert len(corners) == 5
    assert len({x for x, _ in corners}) == 2


def test_tables_hold_every_digit():
    rows = list(csv.DictReader(io.StringIO(Matrices(panels=[PANEL]).csv())))
    assert [float(row["value"]) for row in rows] == PANEL.values.flatten().tolist()
    assert json.loads(Matrices(panels=[PANEL]).json())["figures"][0]["values"] == PANEL.values.tolist()


def test_colours_run_from_light_to_dark_and_both_ways_from_zero():
    brightness = [sum(map(int, colour(step / 10, signed=False)[4:-1].split(","))) for step in range(11)]
    assert brightness == sorted(brightness, reverse=True)
    assert colour(0, signed=True) == "rgb(252,252,250)"
    assert colour(-2, signed=True) == colour(-1, signed=True) != colour(1, signed=True)
