"""Figures by name."""

import pytest
import torch

from clearformer.cli.explain import FIGURES as OFFERED
from clearformer.studio.named_figures import FIGURES, Wish


def shape(panel):
    return tuple(torch.tensor(panel.values).shape)


def test_heads_are_all_heads(desk):
    panels = FIGURES["heads"](desk, Wish(text="two dogs")).panels
    assert len(panels) == sum(site.heads for site in desk.sites.values())
    assert all(shape(panel) == (len(panel.rows), len(panel.columns)) for panel in panels)


def test_one_head_or_their_mean(desks):
    desk = desks["transformer"]
    site = "decoder.layers.0.cross_attn"
    [mean] = FIGURES["attention"](desk, Wish(text="two dogs", site=site)).panels
    heads = FIGURES["heads"](desk, Wish(text="two dogs", site=site)).panels
    assert torch.allclose(torch.tensor(mean.values), torch.tensor([head.values for head in heads]).mean(0))
    [second] = FIGURES["attention"](desk, Wish(text="two dogs", site=site, head=1)).panels
    assert second.values == heads[1].values
    with pytest.raises(ValueError, match="there is no head 9"):
        FIGURES["attention"](desk, Wish(text="two dogs", site=site, head=8))


def test_alignment_needs_a_source_and_a_target(desks):
    [panel] = FIGURES["alignment"](desks["transformer"], Wish(text="two dogs")).panels
    assert torch.allclose(torch.tensor(panel.values).sum(-1), torch.ones(len(panel.rows)), atol=1e-5)
    with pytest.raises(ValueError, match="no cross-attention"):
        FIGURES["alignment"](desks["bert"], Wish(text="two dogs"))


def test_positions_are_as_wide_as_the_model(desks):
    [panel] = FIGURES["positions"](desks["bert"], Wish()).panels
    assert panel.signed
    assert shape(panel) == (64, 24)


def test_the_tree_has_the_answer_that_the_model_writes(desks):
    desk = desks["transformer"]
    rows = {row[0]: row for row in FIGURES["tree"](desk, Wish(text="two dogs")).table.rows}
    found = desk.writer.tree("two dogs", desk.writer.settings(), ())
    path, node = [], found["best"]
    while rows[node][1] is not None:
        path.append(found["nodes"][node]["token"]["id"])
        node = rows[node][1]
    best = desk.writer.best("two dogs")
    assert tuple(reversed(path))[: len(best)] == best


def test_the_architecture_counts_every_parameter(desk):
    rows = FIGURES["architecture"](desk, Wish()).table.rows
    assert sum(parameters for _, parameters, _ in rows) == desk.model()["parameters"]


def test_curves_need_a_run(desk):
    with pytest.raises(ValueError, match="--runs"):
        FIGURES["curves"](desk, Wish())


def test_the_command_line_offers_what_there_is():
    assert tuple(FIGURES) == OFFERED
