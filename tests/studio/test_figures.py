"""Figures by name."""

import pytest
import torch

from clearformer.studio.figures import FIGURES


def test_heads_are_all_heads(desk):
    panels = FIGURES["heads"](desk, "two dogs", None, None)
    assert len(panels) == sum(site.heads for site in desk.sites.values())
    assert all(tuple(panel.values.shape) == (len(panel.rows), len(panel.columns)) for panel in panels)


def test_one_head_or_their_mean(desks):
    desk = desks["transformer"]
    site = "decoder.layers.0.cross_attn"
    [mean] = FIGURES["attention"](desk, "two dogs", site, None)
    heads = FIGURES["heads"](desk, "two dogs", site, None)
    assert torch.allclose(mean.values, torch.stack([head.values for head in heads]).mean(0))
    [second] = FIGURES["attention"](desk, "two dogs", site, 1)
    assert torch.equal(second.values, heads[1].values)
    with pytest.raises(ValueError, match="there is no head 9"):
        FIGURES["attention"](desk, "two dogs", site, 8)


def test_alignment_needs_a_source_and_a_target(desks):
    [panel] = FIGURES["alignment"](desks["transformer"], "two dogs", None, None)
    assert torch.allclose(panel.values.sum(-1), torch.ones(len(panel.rows)), atol=1e-5)
    with pytest.raises(ValueError, match="no cross-attention"):
        FIGURES["alignment"](desks["bert"], "two dogs", None, None)


def test_positions_are_as_wide_as_the_model(desks):
    [panel] = FIGURES["positions"](desks["bert"], "", None, None)
    assert panel.signed
    assert tuple(panel.values.shape) == (64, 24)
