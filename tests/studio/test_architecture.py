"""The architecture of every family as a drawing."""

from xml.etree import ElementTree

from clearformer.studio.architecture import architecture_figure

SVG = "{http://www.w3.org/2000/svg}"


def drawn(handlers):
    return ElementTree.fromstring(architecture_figure(handlers.model(), handlers.anatomy(8)["parts"]).svg("model"))


def test_every_family_can_be_drawn(handlers):
    texts = {element.text for element in drawn(handlers).iter(f"{SVG}text")}
    assert {f"× {layers}" for layers in handlers.model()["layers"].values()} <= texts
    assert {part["name"] for part in handlers.anatomy(8)["parts"]} <= texts


def test_only_cross_attention_reads_the_other_stack(all_handlers):
    def crossing(handlers):
        return [path for path in drawn(handlers).iter(f"{SVG}path") if path.get("marker-end")]

    assert len(crossing(all_handlers["transformer"])) == 1
    assert not crossing(all_handlers["bert"])
