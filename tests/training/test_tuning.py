"""What learns and how fast, by the distance from the input."""

import pytest
import torch

from clearformer.model.build import build
from clearformer.model.families import FAMILIES
from clearformer.training.optimiser import OptimiserConfig, make_optimiser
from clearformer.training.tuning import TuningConfig, choose_what_learns, depths_of, shares_of_the_rate


@pytest.fixture
def model():
    torch.manual_seed(1)
    return build(FAMILIES["bert"](vocab_size=11, dim=8, hidden_dim=8, layers=3, heads=2))


def learning(model):
    return {name for name, parameter in model.named_parameters() if parameter.requires_grad}


def test_depth_counts_from_the_input(model):
    depths = depths_of(model)
    assert depths["encoder.front.embed.weight"] == depths["encoder.front.norm.bias"] == 0
    assert [depths[f"encoder.layers.{layer}.ffn.up_proj.weight"] for layer in range(3)] == [1, 2, 3]
    assert {depth for name, depth in depths.items() if name.startswith("head.")} <= {4}


def test_each_layer_learns_faster_than_the_one_below(model):
    shares = shares_of_the_rate(model, 0.5)
    assert shares["encoder.layers.2.ffn.up_proj.weight"] == 0.5
    assert shares["encoder.layers.0.ffn.up_proj.weight"] == 0.125
    assert shares["encoder.front.embed.weight"] == 0.0625


def test_the_optimiser_moves_each_layer_by_its_share(model):
    """Adam's first step is the rate, whatever the gradient: the shares can be read off it."""
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    shares = shares_of_the_rate(model, 0.5)
    optimiser = make_optimiser(model, OptimiserConfig(), shares)
    for group in optimiser.param_groups:
        group["lr"] = 0.01 * group["share"]
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimiser.step()
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(before[name] - parameter, torch.full_like(parameter, 0.01 * shares[name]))


def test_muon_refuses_rates_by_layer(model):
    with pytest.raises(ValueError, match="one rate for all layers"):
        make_optimiser(model, OptimiserConfig(kind="muon"), shares_of_the_rate(model, 0.5))


@pytest.mark.parametrize(
    ("config", "still"),
    [
        ({"frozen_embeddings": True}, ["front."]),
        ({"frozen_layers": 2}, ["front.", "layers.0.", "layers.1."]),
        ({"frozen_layers": 3}, ["front.", "layers."]),
    ],
)
def test_what_is_frozen_does_not_learn_and_the_rest_does(model, config, still):
    everything = learning(model)
    choose_what_learns(model, TuningConfig(**config), [])
    assert learning(model) == {name for name in everything if not any(part in name for part in still)}


def test_with_adapters_the_head_learns_only_if_it_is_new(model):
    head = [name for name in learning(model) if name.startswith("head.")]
    choose_what_learns(model, TuningConfig(rank=2), head[:1])
    kept = {name for name in learning(model) if not name.endswith(("lora_a", "lora_b"))}
    assert kept == set(head[:1])


def test_nothing_left_to_learn_is_refused(model):
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    with pytest.raises(ValueError, match="nothing of this model is left"):
        make_optimiser(model, OptimiserConfig())


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"layer_decay": 0.0}, "above 0 and at most 1, not 0"),
        ({"layer_decay": 1.5}, "not 1.5"),
        ({"rank": -1}, "rank must not be negative"),
        ({"rank": 4, "frozen_layers": 1}, "leave frozen"),
    ],
)
def test_impossible_settings_are_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        TuningConfig(**wrong)


def test_more_frozen_layers_than_there_are(model):
    with pytest.raises(ValueError, match="is 4, but the model has 3 layers"):
        choose_what_learns(model, TuningConfig(frozen_layers=4), [])
