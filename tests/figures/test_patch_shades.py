"""A picture with its patches shaded: every number in the tables, one rectangle for each patch in the drawing."""

import csv
import io
import json
import xml.etree.ElementTree as ElementTree

import pytest

from clearformer.figures.patch_shades import DARK, PatchShades, veils

ROWS = [[0.1, 0.4], [0.25, 0.0]]
FIGURE = PatchShades(picture=b"bytes of a png", rows=ROWS, note="where it looked")


def test_the_tables_have_every_number():
    lines = list(csv.reader(io.StringIO(FIGURE.csv())))
    assert lines == [
        ["row", "column", "share"],
        ["0", "0", "0.1"],
        ["0", "1", "0.4"],
        ["1", "0", "0.25"],
        ["1", "1", "0.0"],
    ]
    assert json.loads(FIGURE.json()) == {"rows": ROWS, "note": "where it looked"}


def test_the_drawing_has_the_picture_twice_and_a_colour_for_each_patch():
    root = ElementTree.fromstring(FIGURE.svg("7 & more"))
    images = [one for one in root.iter() if one.tag.endswith("image")]
    assert [one.get("href") for one in images] == ["data:image/png;base64,Ynl0ZXMgb2YgYSBwbmc="] * 2
    [veil] = [one for one in root if one.tag.endswith("}g")]
    hidden = [float(one.get("opacity")) for one in veil]
    assert hidden == pytest.approx([DARK * (0.4 - value) / 0.4 for row in ROWS for value in row], abs=1e-3)
    assert "7 & more" in "".join(root.itertext())
    assert "0.4000" in "".join(root.itertext())


def test_where_all_is_even_nothing_is_hidden():
    assert veils([[0.5, 0.5]]) == [[0.0, 0.0]]
    assert PatchShades(picture=b"", rows=[[0.0]]).svg("empty").startswith("<svg")
