"""A tree: every branch has a box, every child an edge, and the path to the best one is in colour."""

from xml.etree import ElementTree

import pytest

from clearformer.figures.palette import ACCENT
from clearformer.figures.tree_drawing import Branch, Tree

SVG = "{http://www.w3.org/2000/svg}"
BRANCHES = [
    Branch(parent=None, depth=0, label="start"),
    Branch(parent=0, depth=1, label="low", rank=-2.0, number="−2"),
    Branch(parent=0, depth=1, label="high", rank=-1.0, share=0.5),
    Branch(parent=0, depth=1, label="a very long <word> & more", rank=0.0, alive=False),
    Branch(parent=2, depth=2, label="end", marked=True),
]


def drawn(**options):
    return ElementTree.fromstring(Tree(branches=BRANCHES, **options).svg("tree"))


def boxes(tree):
    return [element for element in tree.iter(f"{SVG}rect") if element.get("rx")]


def test_every_branch_has_a_box_of_its_own_and_every_child_an_edge():
    tree = drawn()
    assert len({(box.get("x"), box.get("y")) for box in boxes(tree)}) == len(BRANCHES)
    assert len(list(tree.iter(f"{SVG}path"))) == len(BRANCHES) - 1


def test_better_ones_stand_higher_and_those_that_live_above_the_others():
    heights = [float(box.get("y")) for box in boxes(drawn())]
    assert heights[2] < heights[1] < heights[3]


@pytest.mark.parametrize(("best", "steps"), [(4, 2), (1, 1), (0, 0), (None, 0)])
def test_only_the_best_path_is_in_colour(best, steps):
    edges = [edge for edge in drawn(best=best).iter(f"{SVG}path") if edge.get("stroke") == ACCENT]
    assert len(edges) == steps


def test_words_are_cut_to_their_box():
    texts = [element.text for element in drawn(legend="what it means").iter(f"{SVG}text")]
    assert "a very l…" in texts
    assert {"step 1", "step 2", "what it means", "−2"} <= set(texts)
