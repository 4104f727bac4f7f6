"""Training runs become plots and a table."""

import math
from xml.etree import ElementTree

import pytest

from clearformer.studio.training_curves import curves_figure

SVG = "{http://www.w3.org/2000/svg}"
ONE = {"train_loss": [(1, 5.0), (2, 4.0), (3, 3.5)], "bleu": [(3, 20.0)]}


def test_every_recorded_quantity_has_a_plot_and_every_run_a_line():
    tree = ElementTree.fromstring(curves_figure({"a": ONE, "b": ONE}).svg("two runs"))
    lines = list(tree.iter(f"{SVG}polyline"))
    assert len(lines) == len({line.get("stroke") for line in lines}) == 2
    texts = {element.text for element in tree.iter(f"{SVG}text")}
    assert {"a", "b", "training loss", "development BLEU"} <= texts
    assert "learning rate" not in texts


def test_a_falling_loss_falls():
    [line] = ElementTree.fromstring(curves_figure({"a": ONE}).svg("")).iter(f"{SVG}polyline")
    heights = [float(point.split(",")[1]) for point in line.get("points").split()]
    assert heights == sorted(heights), "further down the page"


def test_what_is_no_number_stays_in_the_table():
    figure = curves_figure({"a": {"train_loss": [(1, 2.0), (2, math.nan), (3, 1.0)]}})
    assert len(figure.table.rows) == 3
    [line] = ElementTree.fromstring(figure.svg("")).iter(f"{SVG}polyline")
    assert len(line.get("points").split()) == 2


def test_a_run_without_a_record_is_not_in_the_legend():
    tree = ElementTree.fromstring(curves_figure({"empty": {"train_loss": []}, "a": ONE}).svg(""))
    assert "empty" not in {element.text for element in tree.iter(f"{SVG}text")}


def test_nothing_recorded_is_said():
    with pytest.raises(ValueError, match="nothing was recorded yet"):
        curves_figure({"a": {}})
