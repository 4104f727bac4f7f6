"""What a model costs: counted parts add up, and operations are those of the formulas."""

import pytest

from clearformer.model.build import build
from clearformer.model.cost import count_cost, parameters_by_part
from clearformer.model.families import FAMILIES, transformer
from clearformer.model.presets import preset
from model.specimens import PAIRS, configured


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_can_be_counted_and_its_parts_add_up(family):
    config = configured(family)
    found = count_cost(config, length=16)
    built = build(config)
    assert found.total == sum(parameter.numel() for parameter in built.parameters())
    assert found.parts == parameters_by_part(built)
    assert found.bytes == 4 * found.total
    assert found.training_bytes == 16 * found.total
    assert found.flops_per_token > 0


def test_parts_of_a_small_model_by_hand():
    d, hidden, vocabulary, layers = 8, 16, 11, 2
    parts = count_cost(transformer(vocab_size=vocabulary, dim=d, hidden_dim=hidden, layers=layers, heads=2)).parts
    attention, ffn = 4 * (d * d + d), 2 * d * hidden + hidden + d
    assert parts["encoder.layers.self_attn"] == parts["decoder.layers.self_attn"] == layers * attention
    assert parts["decoder.layers.cross_attn"] == layers * attention
    assert parts["encoder.layers.ffn"] == parts["decoder.layers.ffn"] == layers * ffn
    assert sum(count for name, count in parts.items() if "front" in name) == vocabulary * d  # tied: counted once


def test_operations_of_a_small_model_by_hand():
    """A matrix product of m×k and k×n is 2mkn operations. T source tokens and T target tokens, layer by layer."""
    d, hidden, vocabulary, length = 8, 16, 11, 5
    config = transformer(vocab_size=vocabulary, dim=d, hidden_dim=hidden, layers=1, heads=2)
    attention = 4 * 2 * length * d * d + 2 * 2 * length * length * d  # four projections, scores and weighted values
    ffn = 2 * 2 * length * d * hidden
    expected = (attention + ffn) + (2 * attention + ffn) + 2 * length * d * vocabulary
    assert count_cost(config, length=length).flops_per_token == expected // length


def test_attention_grows_with_the_length_and_everything_else_does_not():
    config = transformer(vocab_size=11, dim=8, hidden_dim=16, layers=1, heads=2)
    short, long = count_cost(config, length=10).flops_per_token, count_cost(config, length=20).flops_per_token
    assert long - short == 3 * 2 * 2 * 10 * 8  # three attentions, two products each, ten keys more, eight wide


def test_a_model_of_175_billion_is_counted_without_its_memory():
    found = count_cost(preset("gpt3"), length=8)
    assert found.total == pytest.approx(175e9, rel=0.01)
    assert found.flops_per_token == pytest.approx(2 * found.total, rel=0.02)  # the rule of thumb: two a parameter


def test_pictures_decide_their_own_length():
    assert count_cost(preset("vit-b16")).length == 197


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_is_counted_by_its_halves(name):
    """One picture and one text; the parts of both halves stay apart."""
    found = count_cost(PAIRS[name], length=6)
    built = build(PAIRS[name])
    assert found.total == sum(found.parts.values()) == sum(parameter.numel() for parameter in built.parameters())
    assert {"pictures.encoder.layers.ffn", "scale"} <= found.parts.keys()
    assert any(part.startswith("texts.") for part in found.parts)
    assert found.flops_per_token > 0
