"""The faster path says what the readable one says, follows the weights, and steps aside where somebody looks."""

import pytest
import torch

from clearformer.inference.reading_network import ReadingNetwork
from clearformer.model.build import build
from clearformer.model.config import FrontConfig, HeadConfig, NormConfig
from clearformer.model.families import vit
from clearformer.model.trace import trace
from support.toy_readers import ENCODERS, HEADS, SIZES, reader

torch.manual_seed(2)
TOKENS = torch.randint(5, SIZES["vocab_size"], (4, 16))
KEEP = torch.arange(16)[None] < torch.tensor([16, 3, 9, 1])[:, None]


@pytest.mark.parametrize("name", ENCODERS)
@torch.inference_mode()
def test_every_encoder_has_the_states_of_the_readable_path(name):
    made = reader(ENCODERS[name])
    found = ReadingNetwork(made.model).states(TOKENS, KEEP)
    expected = made.model.encode(TOKENS, keep=KEEP).states
    torch.testing.assert_close(found[KEEP], expected[KEEP], rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("name", HEADS)
@torch.inference_mode()
def test_every_head_says_the_same_with_types(name):
    made = reader(head=HEADS[name])
    types = (TOKENS % 2) * KEEP
    found, expected = ReadingNetwork(made.model)(TOKENS, KEEP, types), made.model(TOKENS, keep=KEEP, types=types)
    real = KEEP if expected.dim() == 3 else slice(None)
    torch.testing.assert_close(found[real], expected[real], rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("pool", ["first", "mean", "weighted"])
@pytest.mark.parametrize("place", ["pre", "post"])
@torch.inference_mode()
def test_pictures_have_the_classes_of_the_readable_path(pool, place, layers):
    config = vit(
        dim=16, hidden_dim=24, layers=layers, heads=2, init_std=0.5, norm=NormConfig(place=place),
        front=FrontConfig(kind="patches", picture=8, patch=4), head=HeadConfig(kind="class", labels=5, pool=pool),
    )  # fmt: skip
    model = build(config).eval()
    pictures = torch.randn(3, 3, 8, 8)
    network = ReadingNetwork(model)
    torch.testing.assert_close(network(pictures), model(pictures), rtol=1e-5, atol=2e-5)
    assert network._fast is not None, "the readable path was compared with itself"


@torch.no_grad()
def test_weights_that_were_changed_since_are_followed():
    """Validation during training asks the same reader again and again."""
    made = reader(head=HEADS["class"])
    network = ReadingNetwork(made.model)
    before = network(TOKENS, KEEP)
    made.model.encoder.layers[0].self_attn.v_proj.weight.mul_(3)
    after = network(TOKENS, KEEP)
    assert not torch.allclose(before, after, atol=1e-3)
    torch.testing.assert_close(after, made.model(TOKENS, keep=KEEP), rtol=1e-5, atol=2e-5)


@torch.inference_mode()
def test_a_trace_sees_every_value():
    made = reader()
    network = ReadingNetwork(made.model)
    network.states(TOKENS, KEEP)
    with trace(made.model) as seen:
        network.states(TOKENS, KEEP)
    assert "encoder.layers.1.self_attn.weights" in set(seen)
