"""What all figures share."""

import csv
import io
import json
from xml.etree import ElementTree

from clearformer.figures.sheet import Table, TabledFigure, box, printable, sheet, words


def test_a_sheet_is_xml_whatever_is_said():
    drawn = sheet(300, 100, "a < b & \x00", [words(1, 2, "“&” \x07"), box(1, 2, 3, 4)])
    said = [element.text for element in ElementTree.fromstring(drawn).iter() if element.text and element.text.strip()]
    assert said == ["a < b & U+0000", "a < b & U+0000", "“&” U+0007"]


def test_a_long_title_is_set_smaller():
    def size(title):
        [first] = [e for e in ElementTree.fromstring(sheet(300, 50, title, [])).iter() if e.get("font-weight")]
        return float(first.get("font-size"))

    assert size("short") == 15.0
    assert size("long " * 40) < 5


def test_a_table_keeps_every_digit_and_what_is_missing():
    table = Table(("a", "b"), [(1, 0.1 + 0.2), ("x", None)])
    assert list(csv.reader(io.StringIO(table.csv()))) == [["a", "b"], ["1", "0.30000000000000004"], ["x", ""]]
    assert json.loads(table.json())["rows"][1] == {"a": "x", "b": None}


def test_control_characters_become_their_numbers():
    assert printable("a\u2028b") == "aU+2028b"


def test_a_figure_is_its_picture_beside_its_table():
    class Dot:
        def svg(self, title):
            return f"<svg>{title}</svg>"

    table = Table(("a",), [(1,)])
    figure = TabledFigure(Dot(), table)
    assert (figure.svg("t"), figure.csv(), figure.json()) == ("<svg>t</svg>", table.csv(), table.json())
