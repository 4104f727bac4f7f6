"""The written-out encoder beside the readable one: the same states wherever a token is real."""

import pytest
import torch

from clearformer.model.fast.encoder import capture_encoder
from model.specimens import PLAIN, padded, sentences, specimen

VARIANTS = {
    **PLAIN,
    "types, narrow embeddings": ("albert", {}),
}


@pytest.mark.parametrize("side", ["right", "left", "anywhere"])
@pytest.mark.parametrize("variant", VARIANTS)
@torch.inference_mode()
def test_real_positions_have_the_states_of_the_readable_path(variant, side):
    torch.manual_seed(4)
    family, choices = VARIANTS[variant]
    encoder = specimen(family, **choices).encoder
    tokens, keep = padded(sentences(5, 9, 2, 7), side)
    memory, expected = capture_encoder(encoder).read(tokens, keep), encoder(tokens, keep=keep)
    assert torch.equal(memory.keep, keep)
    assert memory.states.shape == expected.states.shape
    torch.testing.assert_close(memory.states[keep], expected.states[keep], rtol=1e-5, atol=1e-5)


@torch.inference_mode()
def test_without_padding_there_is_nothing_to_leave_out():
    encoder = specimen("transformer").encoder
    for count, length in ((1, 1), (1, 5), (3, 8)):
        tokens = torch.randint(4, 20, (count, length))
        keep = torch.ones_like(tokens, dtype=torch.bool)
        expected = encoder(tokens, keep=keep).states
        torch.testing.assert_close(capture_encoder(encoder).read(tokens, keep).states, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("family", "choices"),
    [("t5", {}), ("roformer", {}), ("transformer", {"gated": True}), ("lstm", {}), ("convolution", {})],
)
def test_what_it_does_not_know_it_leaves_alone(family, choices):
    assert capture_encoder(specimen(family, **choices).encoder) is None


def test_it_is_stale_once_a_weight_was_written():
    model = specimen("transformer")
    encoder = capture_encoder(model.encoder)
    assert not encoder.stale()
    with torch.no_grad():
        model.encoder.layers[0].self_attn.q_proj.weight.mul_(2)
    assert encoder.stale()
