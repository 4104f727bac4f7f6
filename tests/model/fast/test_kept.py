"""The fast path of weights in fewer bits beside the readable one, and that it copies none of those in two bytes."""

import pytest
import torch

from clearformer.folder.rounded_weights import from_rounded, to_rounded
from clearformer.model.config import AttentionConfig, EmbeddingConfig
from clearformer.model.fast.causal import capture_causal
from clearformer.model.fast.kept import Beside, NarrowAffine, product
from clearformer.model.from_weights import network_from
from clearformer.model.narrow import NarrowLinear
from clearformer.model.weights import weights_of
from model.specimens import VOCAB, configured, specimen

VARIANTS = {
    "llama": ("llama", {}),
    "gpt2": ("gpt2", {}),
    "grouped heads": ("llama", {"attention": AttentionConfig(heads=4, kv_heads=2, head_dim=12)}),
    "untied": ("llama", {"embedding": EmbeddingConfig(tie="none")}),
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("kind", "close"), [("bfloat16", 1e-5), ("float16", 1e-5), (8, 0.02), (4, 0.02)])
@torch.inference_mode()
def test_it_says_what_the_readable_path_says(variant, kind, close, monkeypatch):
    monkeypatch.setattr("clearformer.model.fast.int8.SMALL", 0)
    family, choices = VARIANTS[variant]
    torch.manual_seed(1)
    weights = weights_of(specimen(family, **choices))
    if isinstance(kind, int):
        kept = from_rounded(to_rounded(weights, kind))
    else:
        kept = {name: weight.to(getattr(torch, kind)) for name, weight in weights.items()}
    model = network_from(configured(family, **choices), kept, narrow=True)
    tokens, cache, fast = torch.randint(VOCAB, (2, 9)), model.start_cache(), capture_causal(model)
    found = torch.cat([fast(part, cache=cache) for part in tokens.split([6, 1, 2], dim=1)], dim=1)
    expected = model(tokens)
    assert float((found - expected).norm() / expected.norm()) < close


def test_a_weight_in_two_bytes_is_used_where_it_lies():
    layer = NarrowLinear(8, 6, dtype=torch.bfloat16).requires_grad_(False)
    made = product([layer], lambda *_: None)
    assert isinstance(made, NarrowAffine)
    assert made.weight.data_ptr() == layer.weight.data_ptr()


def test_several_stand_side_by_side_and_the_first_is_scaled():
    x = torch.randn(2, 3)
    assert torch.equal(Beside([torch.sin, torch.cos], 3.0)(x), torch.cat((3 * x.sin(), x.cos()), dim=-1))
