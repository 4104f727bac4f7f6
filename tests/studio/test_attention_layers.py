"""Where models attend."""

import torch

from clearformer.model import families
from clearformer.model.build import build
from clearformer.studio.attention_layers import input_of, sites_of


def test_an_encoder_decoder_attends_in_three_ways(desks):
    found = [(site.name, site.kind) for site in desks["transformer"].sites.values()]
    assert found[0] == ("encoder.layers.0.self_attn", "self")
    assert found[2:4] == [("decoder.layers.0.self_attn", "masked"), ("decoder.layers.0.cross_attn", "cross")]
    assert len(found) == 6


def test_shared_keys_and_rotation_are_told(desks):
    site = next(iter(desks["llama"].sites.values()))
    assert (site.heads, site.kv_heads, site.key_dim, site.position, site.kind) == (4, 2, 6, "rotary", "masked")


def test_one_layer_that_runs_many_times_is_many_sites():
    model = build(families.albert(vocab_size=20, dim=8, hidden_dim=8, layers=3, heads=2))
    assert [site.layer for site in sites_of(model)] == [0, 1, 2]


def test_baselines_attend_in_ways_of_their_own():
    model = build(families.lstm(vocab_size=20, dim=8, hidden_dim=8))
    assert [(site.kind, site.exact) for site in sites_of(model)] == [("cross", False)]


def test_what_flows_into_a_site_is_what_its_residual_adds(desk):
    """sum = input + output, for every site, in both places of the norm."""
    look = desk.subject.look("two dogs", ())
    for site in desk.sites.values():
        values = desk.seen.values(look, [f"{site.name}*", input_of(site)])
        expected = values[input_of(site)] + values[f"{site.name}.output"]
        assert torch.allclose(values[f"{site.name}_residual.sum"], expected, atol=1e-6)
