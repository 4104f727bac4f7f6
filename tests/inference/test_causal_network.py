"""Which path runs a decoder-only model: the fast one where it is known, the readable one when somebody looks inside."""

import pytest
import torch

from clearformer.folder.rounded_weights import from_rounded, to_rounded
from clearformer.inference.causal_network import CausalNetwork
from clearformer.model.from_weights import network_from
from clearformer.model.trace import trace
from clearformer.model.weights import weights_of
from model.specimens import VOCAB, configured, specimen


@pytest.mark.parametrize("family", ["gpt2", "llama", "transformer-xl"])
@torch.inference_mode()
def test_reading_and_then_asking_is_the_full_pass(family):
    torch.manual_seed(1)
    model = specimen(family)
    network, tokens = CausalNetwork(model), torch.randint(VOCAB, (2, 7))
    cache = network.start_cache()
    network.read(tokens[:, :4], cache=cache)
    torch.testing.assert_close(network.logits(tokens[:, 4:], cache=cache), model(tokens)[:, 4:], rtol=1e-5, atol=1e-5)


def test_after_training_the_new_weights_are_used():
    model = specimen("llama")
    network, tokens = CausalNetwork(model), torch.tensor([[3, 4, 5]])
    before = network.logits(tokens, cache=network.start_cache())
    with torch.no_grad():
        model.decoder.layers[1].ffn.up_proj.weight.mul_(-1.0)
    after = network.logits(tokens, cache=network.start_cache())
    assert not torch.allclose(before, after)
    torch.testing.assert_close(after, model(tokens), rtol=1e-5, atol=1e-5)


def test_a_trace_sees_every_layer():
    model = specimen("llama")
    network = CausalNetwork(model)
    tokens = torch.tensor([[3, 4, 5]])
    network.logits(tokens, cache=network.start_cache())  # captured: and yet the next call is seen
    with trace(model) as seen:
        network.logits(tokens, cache=network.start_cache())
    assert any("weights" in name for name in seen)


@torch.inference_mode()
def test_eight_bits_are_used_where_the_model_says_so(monkeypatch):
    monkeypatch.setattr("clearformer.model.fast.int8.SMALL", 0)
    torch.manual_seed(2)
    model = specimen("llama")
    tokens = torch.randint(VOCAB, (1, 6))
    weights = from_rounded(to_rounded(weights_of(model), 8))
    small = CausalNetwork(network_from(configured("llama"), weights, narrow=True))
    rounded, exact = small.logits(tokens, cache=small.start_cache()), model(tokens)
    assert 0 < (rounded - exact).norm() < 0.05 * exact.norm()
