"""Figures by name."""

import pytest
import torch

from clearformer.cli.explain import FIGURES as OFFERED
from clearformer.studio.named_figures import FIGURES, Wish


def shape(panel):
    return tuple(torch.tensor(panel.values).shape)


def test_heads_are_all_heads(handlers):
    panels = FIGURES["heads"](handlers, Wish(text="two dogs")).panels
    assert len(panels) == sum(layer.heads for layer in handlers.layers.values())
    assert all(shape(panel) == (len(panel.rows), len(panel.columns)) for panel in panels)


def test_one_head_or_their_mean(all_handlers):
    handlers = all_handlers["transformer"]
    layer = "decoder.layers.0.cross_attn"
    [mean] = FIGURES["attention"](handlers, Wish(text="two dogs", layer=layer)).panels
    heads = FIGURES["heads"](handlers, Wish(text="two dogs", layer=layer)).panels
    assert torch.allclose(torch.tensor(mean.values), torch.tensor([head.values for head in heads]).mean(0))
    [second] = FIGURES["attention"](handlers, Wish(text="two dogs", layer=layer, head=1)).panels
    assert second.values == heads[1].values
    with pytest.raises(ValueError, match="there is no head 9"):
        FIGURES["attention"](handlers, Wish(text="two dogs", layer=layer, head=8))


def test_alignment_needs_a_source_and_a_target(all_handlers):
    [panel] = FIGURES["alignment"](all_handlers["transformer"], Wish(text="two dogs")).panels
    assert torch.allclose(torch.tensor(panel.values).sum(-1), torch.ones(len(panel.rows)), atol=1e-5)
    with pytest.raises(ValueError, match="no cross-attention"):
        FIGURES["alignment"](all_handlers["bert"], Wish(text="two dogs"))


def test_positions_are_as_wide_as_the_model(all_handlers):
    [panel] = FIGURES["positions"](all_handlers["bert"], Wish()).panels
    assert panel.signed
    assert shape(panel) == (64, 24)


def test_the_tree_has_the_answer_that_the_model_writes(all_handlers):
    handlers = all_handlers["transformer"]
    rows = {row[0]: row for row in FIGURES["tree"](handlers, Wish(text="two dogs")).table.rows}
    found = handlers.writer.tree("two dogs", handlers.writer.settings(), ())
    path, node = [], found["best"]
    while rows[node][1] is not None:
        path.append(found["nodes"][node]["token"]["id"])
        node = rows[node][1]
    best = handlers.writer.best("two dogs")
    assert tuple(reversed(path))[: len(best)] == best


def test_the_architecture_counts_every_parameter(handlers):
    rows = FIGURES["architecture"](handlers, Wish()).table.rows
    assert sum(parameters for _, parameters, _ in rows) == handlers.model()["parameters"]


def test_curves_need_a_run(handlers):
    with pytest.raises(ValueError, match="--runs"):
        FIGURES["curves"](handlers, Wish())


def test_the_command_line_offers_what_there_is():
    assert tuple(FIGURES) == OFFERED
