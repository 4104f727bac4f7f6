"""A recorded beam search becomes a picture and a table."""

from xml.etree import ElementTree

import pytest

from clearformer.figures.palette import ACCENT
from clearformer.studio.search_tree import FATES, search_figure

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def found(desks):
    return desks["transformer"].writer.tree("two dogs play", desks["transformer"].writer.settings(), ())


def test_every_candidate_has_a_box_and_every_child_an_edge(found):
    tree = ElementTree.fromstring(search_figure(found["nodes"], found["best"]).svg("tree"))
    boxes = [e for e in tree.iter(f"{SVG}rect") if e.get("rx")]
    edges = list(tree.iter(f"{SVG}path"))
    assert len(boxes) == len(found["nodes"])
    assert len(edges) == sum(node["parent"] is not None for node in found["nodes"])
    best = [edge for edge in edges if edge.get("stroke") == ACCENT]
    assert len(best) == found["nodes"][found["best"]]["depth"], "the answer's path, and nothing else, is in colour"


def test_no_two_boxes_share_a_place(found):
    tree = ElementTree.fromstring(search_figure(found["nodes"], found["best"]).svg("tree"))
    corners = [(e.get("x"), e.get("y")) for e in tree.iter(f"{SVG}rect") if e.get("rx")]
    assert len(set(corners)) == len(corners)


def test_the_table_adds_up(found):
    rows = search_figure(found["nodes"], found["best"]).table.rows
    totals = {row[0]: row[5] for row in rows}
    for number, parent, _, _, own, total, *_, fate in rows:
        assert fate in FATES.values() or fate.startswith("banned"), fate
        if parent is not None and total is not None:
            assert totals[parent] + own == pytest.approx(total, abs=1e-5), number


def test_a_search_without_an_end_has_no_best_path(found):
    drawn = search_figure(found["nodes"], None).svg("tree")
    assert not [e for e in ElementTree.fromstring(drawn).iter(f"{SVG}path") if e.get("stroke") == ACCENT]
