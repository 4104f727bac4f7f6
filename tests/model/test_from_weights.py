"""A model around weights that are there: the same one, in the bits that it was given, and nothing copied."""

import pytest
import torch

from clearformer.folder.rounded_weights import from_rounded, plain_weights, to_rounded
from clearformer.model.config import EmbeddingConfig, ModelConfig, PositionConfig
from clearformer.model.from_weights import network_from, shapes_of, widened
from clearformer.model.trace import trace
from clearformer.model.weights import weights_of
from model.specimens import VOCAB, configured, specimen

VARIANTS = {
    "llama": ("llama", {}),
    "gpt2": ("gpt2", {}),
    "untied": ("llama", {"embedding": EmbeddingConfig(tie="none")}),
    "shared layers": ("llama", {"share_layers": True}),
    "alibi": ("llama", {"position": PositionConfig(kind="alibi")}),
    "transformer-xl": ("transformer-xl", {}),
}


def given(variant, kind):
    """A configuration, and weights of fewer bits as a file has them."""
    family, choices = VARIANTS[variant]
    torch.manual_seed(1)
    weights = weights_of(specimen(family, **choices))
    if isinstance(kind, int):
        return configured(family, **choices), from_rounded(to_rounded(weights, kind))
    return configured(family, **choices), {name: weight.to(kind) for name, weight in weights.items()}


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, 8, 4])
@pytest.mark.parametrize("variant", VARIANTS)
def test_fewer_bits_say_what_the_same_weights_say_in_float32(variant, kind):
    config, weights = given(variant, kind)
    short, wide = network_from(config, weights, narrow=True), network_from(config, weights)
    tokens = torch.randint(VOCAB, (2, 7))
    with torch.no_grad():
        torch.testing.assert_close(short(tokens), wide(tokens), rtol=1e-5, atol=1e-5)
    sizes = [sum(p.numel() * p.element_size() for p in model.parameters()) for model in (short, wide)]
    assert sizes[0] < 0.6 * sizes[1]
    assert not any(p.requires_grad for p in short.parameters())
    with trace(short) as seen, torch.no_grad():
        short(tokens)
    assert all(value.dtype == torch.float32 for value in seen.values() if value.is_floating_point())


@pytest.mark.parametrize("kind", [torch.bfloat16, 8, 4])
def test_widened_it_learns_and_what_was_shared_is_shared(kind):
    config, weights = given("llama", kind)
    short = network_from(config, weights, narrow=True)
    wide, tokens = widened(short), torch.randint(VOCAB, (1, 5))
    assert weights_of(wide).keys() == plain_weights(weights).keys()
    torch.testing.assert_close(wide(tokens), short(tokens), rtol=1e-5, atol=1e-5)
    wide(tokens).sum().backward()
    assert all(parameter.grad is not None for parameter in wide.parameters())


def test_weights_in_float32_are_used_where_they_lie():
    config = configured("llama")
    weights = weights_of(specimen("llama"))
    made = weights_of(network_from(config, weights))
    assert {name: w.data_ptr() for name, w in made.items()} == {name: w.data_ptr() for name, w in weights.items()}


def test_a_reader_is_float_32_throughout():
    weights = {name: weight.bfloat16() for name, weight in weights_of(specimen("bert")).items()}
    model = network_from(configured("bert"), weights, narrow=True)
    assert all(p.dtype == torch.float32 and p.requires_grad for p in model.parameters())


def test_a_description_of_more_than_the_file_holds_takes_no_memory():
    huge: ModelConfig = configured("llama", vocab_size=1 << 40)
    assert any((1 << 40) in shape for shape in shapes_of(huge).values())
    with pytest.raises(ValueError, match="but the model has"):
        network_from(huge, weights_of(specimen("llama")))
