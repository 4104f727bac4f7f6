"""The written-out decoder-only model beside the readable one: the same logits, alone, in batches, with any past."""

import pytest
import torch

from clearformer.model.config import AttentionConfig, EmbeddingConfig, HeadConfig, NormConfig, PositionConfig
from clearformer.model.fast.causal import capture_causal
from clearformer.model.fast.int8 import Int8Affine
from model.specimens import VOCAB, padded, sentences, specimen

VARIANTS = {
    "gpt2": ("gpt2", {}),
    "llama": ("llama", {}),
    "grouped heads": ("llama", {"attention": AttentionConfig(heads=4, kv_heads=2)}),
    "one key head, wide": ("llama", {"attention": AttentionConfig(heads=4, kv_heads=1, head_dim=12)}),
    "neighbouring pairs": ("llama", {"position": PositionConfig(kind="rotary", pairs="neighbours")}),
    "stretched positions": ("llama", {"position": PositionConfig(kind="rotary", scaling="linear", factor=2.0)}),
    "window": ("llama", {"attention": AttentionConfig(heads=4, window=3)}),
    "post-norm": ("gpt2", {"norm": NormConfig(place="post")}),
    "untied, transformed states": (
        "gpt2",
        {"embedding": EmbeddingConfig(tie="none"), "head": HeadConfig(transform=True)},
    ),
    "shrunk states": ("gpt2", {"head": HeadConfig(shrink=True)}),
    "sinusoidal": ("gpt2", {"position": PositionConfig(kind="sinusoidal")}),
    "shared layers": ("llama", {"share_layers": True}),
}


@pytest.fixture(params=[200_000, 0], ids=["plain weights", "packed weights"])
def packing(request, monkeypatch):
    monkeypatch.setattr("clearformer.model.fast.packed.LARGE", request.param)


@pytest.mark.parametrize("variant", VARIANTS)
@torch.inference_mode()
def test_a_text_read_in_pieces_has_the_logits_of_the_full_pass(variant, packing):
    family, choices = VARIANTS[variant]
    torch.manual_seed(1)
    model = specimen(family, **choices)
    tokens = torch.randint(VOCAB, (2, 11))
    fast, cache = capture_causal(model), model.start_cache()
    pieces = [fast(part, cache=cache) for part in tokens.split([5, 1, 1, 3, 1], dim=1)]
    torch.testing.assert_close(torch.cat(pieces, dim=1), model(tokens), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("variant", VARIANTS)
@torch.inference_mode()
def test_padding_to_the_left_changes_nothing(variant, packing):
    family, choices = VARIANTS[variant]
    torch.manual_seed(2)
    model = specimen(family, **choices)
    rows = sentences(3, 7, 5)
    tokens, keep = padded(rows, "left")
    fast, cache = capture_causal(model), model.start_cache()
    fast.states(tokens[:, :-1], keep=keep[:, :-1], cache=cache)
    together = fast(tokens[:, -1:], cache=cache)[:, -1]
    alone = torch.cat([model(row[None])[:, -1] for row in rows])
    torch.testing.assert_close(together, alone, rtol=1e-5, atol=1e-5)


@torch.inference_mode()
def test_the_readable_path_goes_on_where_the_fast_one_stopped_and_back_again():
    torch.manual_seed(3)
    model = specimen("llama")
    tokens, cache = torch.randint(VOCAB, (1, 9)), model.start_cache()
    fast = capture_causal(model)
    fast.states(tokens[:, :4], cache=cache)
    model(tokens[:, 4:6], cache=cache)
    last = fast(tokens[:, 6:], cache=cache)
    torch.testing.assert_close(last, model(tokens)[:, 6:], rtol=1e-5, atol=1e-5)


@torch.no_grad()
def test_it_notices_that_the_weights_have_changed():
    model = specimen("gpt2")
    fast = capture_causal(model)
    assert not fast.stale()
    model.decoder.layers[0].ffn.up_proj.weight.add_(1.0)
    assert fast.stale()


@pytest.mark.parametrize(
    ("family", "choices"),
    [
        ("llama", {"position": PositionConfig(kind="alibi")}),
        ("gpt2", {"position": PositionConfig(kind="buckets")}),
        ("transformer-xl", {}),
        ("transformer", {}),
        ("bert", {}),
    ],
)
def test_what_it_does_not_know_it_leaves_alone(family, choices):
    assert capture_causal(specimen(family, **choices)) is None


@pytest.mark.parametrize("family", ["gpt2", "llama"])
@torch.inference_mode()
def test_in_eight_bits_it_says_nearly_the_same_and_a_row_does_not_see_its_neighbours(family, monkeypatch):
    monkeypatch.setattr("clearformer.model.fast.int8.SMALL", 0)
    torch.manual_seed(4)
    model = specimen(family)
    tokens = torch.randint(VOCAB, (3, 8))
    rounded = capture_causal(model, Int8Affine.of)
    together = rounded(tokens, cache=model.start_cache())
    exact = model(tokens)
    assert (together - exact).norm() < 0.03 * exact.norm()
    assert not torch.equal(together, capture_causal(model)(tokens, cache=model.start_cache()))  # it did round
    for row in range(3):
        alone = rounded(tokens[row : row + 1], cache=model.start_cache())
        torch.testing.assert_close(alone[0], together[row], rtol=1e-5, atol=1e-5)
