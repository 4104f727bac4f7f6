"""Adapters change nothing at first, learn alone, and add up to a plain model that says the same."""

import pytest
import torch
from torch import nn

from clearformer.model.adapters import AdaptedLinear, adapt, is_adapted, merged, merged_weights
from clearformer.model.build import build
from clearformer.model.families import FAMILIES
from clearformer.model.weights import weights_of

SIZES = {"vocab_size": 23, "dim": 16, "hidden_dim": 24, "layers": 2, "heads": 2}


def made(family="bert", **more):
    torch.manual_seed(3)
    return build(FAMILIES[family](**SIZES | more)).eval()


def said(model, rows=3):
    ids = torch.randint(1, 23, (rows, 7), generator=torch.Generator().manual_seed(5))
    return model(ids, ids) if hasattr(model, "encoder") and hasattr(model, "decoder") else model(ids)


def learned(model):
    """As if the adapters had learned something."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("lora_b"):
                parameter.normal_(std=0.3, generator=torch.Generator().manual_seed(len(name)))
    return model


@pytest.mark.parametrize("family", ["bert", "deberta", "gpt2", "llama", "transformer"])
def test_new_adapters_change_nothing_and_learned_ones_add_up(family):
    model = made(family)
    with torch.no_grad():
        before = said(model)
        adapt(model, rank=3, scale=2.0)
        assert torch.equal(said(model), before)
        changed = said(learned(model))
        assert not torch.allclose(changed, before, atol=1e-2)
        plain = merged(model).eval()
        assert not is_adapted(plain)
        torch.testing.assert_close(said(plain), changed, atol=1e-5, rtol=1e-5)


def test_every_linear_layer_outside_the_head_has_one():
    model = made()
    linear = {name for name, module in model.named_modules() if type(module) is nn.Linear and "head." not in name}
    assert len(linear) == 2 * 6  # q, k, v, out, up, down
    adapt(model, rank=2, scale=1.0)
    assert {name for name, module in model.named_modules() if isinstance(module, AdaptedLinear)} == linear


def test_only_adapters_and_the_head_learn():
    model = made()
    adapt(model, rank=2, scale=1.0)
    said(model).sum().backward()
    moved = {name for name, parameter in model.named_parameters() if parameter.grad is not None}
    assert {name.rpartition(".")[2] for name in moved if not name.startswith("head.")} == {"lora_a", "lora_b"}


def test_without_adapters_nothing_is_done():
    model = made()
    weights = weights_of(model)
    assert merged(model) is model
    assert merged_weights(weights).keys() == weights.keys()
    assert all(torch.equal(merged_weights(weights)[name], weights[name]) for name in weights)


def test_weights_that_do_not_fit_are_named():
    model = made()
    adapt(model, rank=2, scale=1.0)
    weights = weights_of(model)
    name = next(name for name in weights if name.endswith("lora_b"))
    with pytest.raises(ValueError, match=name.removesuffix(".lora_b")):
        merged_weights({**weights, name: torch.zeros(3, 2)})
    with pytest.raises(ValueError, match="at least 1, not 0"):
        adapt(made(), rank=0, scale=1.0)
