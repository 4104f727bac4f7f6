"""The architecture of every family as a drawing."""

from xml.etree import ElementTree

from clearformer.studio.architecture import architecture_figure

SVG = "{http://www.w3.org/2000/svg}"


def drawn(desk):
    return ElementTree.fromstring(architecture_figure(desk.model(), desk.anatomy(8)["parts"]).svg("model"))


def test_every_family_can_be_drawn(desk):
    texts = {element.text for element in drawn(desk).iter(f"{SVG}text")}
    assert {f"× {layers}" for layers in desk.model()["layers"].values()} <= texts
    assert {part["name"] for part in desk.anatomy(8)["parts"]} <= texts


def test_only_cross_attention_reads_the_other_stack(desks):
    def crossing(desk):
        return [path for path in drawn(desk).iter(f"{SVG}path") if path.get("marker-end")]

    assert len(crossing(desks["transformer"])) == 1
    assert not crossing(desks["bert"])
