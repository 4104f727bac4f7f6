"""Where models attend."""

import torch

from clearformer.model import families
from clearformer.model.build import build
from clearformer.studio.attention_layers import attention_layers, input_of


def test_an_encoder_decoder_attends_in_three_ways(all_handlers):
    found = [(layer.name, layer.kind) for layer in all_handlers["transformer"].layers.values()]
    assert found[0] == ("encoder.layers.0.self_attn", "self")
    assert found[2:4] == [("decoder.layers.0.self_attn", "masked"), ("decoder.layers.0.cross_attn", "cross")]
    assert len(found) == 6


def test_shared_keys_and_rotation_are_told(all_handlers):
    layer = next(iter(all_handlers["llama"].layers.values()))
    assert (layer.heads, layer.kv_heads, layer.key_dim, layer.position, layer.kind) == (4, 2, 6, "rotary", "masked")


def test_one_layer_that_runs_many_times_is_many_sites():
    model = build(families.albert(vocab_size=20, dim=8, hidden_dim=8, layers=3, heads=2))
    assert [layer.index for layer in attention_layers(model)] == [0, 1, 2]


def test_baselines_attend_in_ways_of_their_own():
    model = build(families.lstm(vocab_size=20, dim=8, hidden_dim=8))
    assert [(layer.kind, layer.exact) for layer in attention_layers(model)] == [("cross", False)]


def test_what_flows_into_a_site_is_what_its_residual_adds(handlers):
    """sum = input + output, for every layer, in both places of the norm."""
    look = handlers.shown_model.look("two dogs", ())
    for layer in handlers.layers.values():
        values = handlers.traces.values(look, [f"{layer.name}*", input_of(layer)])
        expected = values[input_of(layer)] + values[f"{layer.name}.output"]
        assert torch.allclose(values[f"{layer.name}_residual.sum"], expected, atol=1e-6)
