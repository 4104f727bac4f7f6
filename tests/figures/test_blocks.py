"""Stacks of blocks, and what they cost."""

from xml.etree import ElementTree

from clearformer.figures.blocks import BAR, Block, Blocks, Stack

SVG = "{http://www.w3.org/2000/svg}"
LAYER = [Block(title="look", detail="8 × 64", tinted=True), Block(title="read", detail="", reads=True)]
FRONT = Block(title="in", detail="100 × 8")
STACKS = [
    Stack(name="left", count=3, entry="input", front=FRONT, layer=LAYER[:1]),
    Stack(name="right", count=2, entry="so far", front=FRONT, layer=LAYER, head=Block(title="out", detail="")),
]
COSTS = {"weights": {"a": 30, "b & c": 10}, "steps": {"a": 0, "b & c": 5}}


def drawn(stacks=STACKS, costs=COSTS):
    return ElementTree.fromstring(Blocks(stacks=stacks, costs=costs).svg("machine"))


def test_everything_is_named():
    texts = {element.text for element in drawn().iter(f"{SVG}text")}
    assert {"left", "× 3", "right", "× 2", "input", "so far", "look", "read", "out", "in", "a", "b & c"} <= texts
    assert {"weights: 40", "steps: 5"} <= texts


def test_a_block_that_reads_the_stack_before_has_an_arrow_from_there():
    arrows = [path for path in drawn().iter(f"{SVG}path") if path.get("marker-end")]
    assert len(arrows) == 1
    assert not [path for path in drawn(STACKS[:1]).iter(f"{SVG}path") if path.get("marker-end")]


def test_bars_are_shares_of_the_whole():
    bars = [float(bar.get("width")) for bar in drawn().iter(f"{SVG}rect") if bar.get("height") == "14"]
    assert bars == [BAR * 0.75, BAR * 0.25, 0, BAR]


def test_without_stacks_and_costs_there_is_still_a_sheet():
    assert drawn([], {}).tag == f"{SVG}svg"
