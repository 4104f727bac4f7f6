"""Transformer-XL's memory: two segments in turn are one long text, and the past is looked at but not trained."""

import pytest
import torch

from clearformer.model.config import NormConfig
from clearformer.model.segment_memory import SegmentMemory
from model.specimens import KINDS, LAYERS, VOCAB, close, padded, sentences, specimen

LONG = 64  # more than any text here: nothing is forgotten


@torch.no_grad()
@pytest.mark.parametrize("place", ["post", "pre"])
@pytest.mark.parametrize("kind", KINDS)
def test_segments_in_turn_equal_the_whole_text(kind, place):
    """The relative positions of the paper, and, since positions are explicit, every other scheme."""
    model = specimen("transformer-xl", kind, norm=NormConfig(place=place))
    text = torch.randint(VOCAB, (2, 12))
    whole, past = model(text), model.start_segment_memory(LONG)
    for segment, expected in zip(text.split([4, 1, 5, 2], dim=1), whole.split([4, 1, 5, 2], dim=1), strict=True):
        close(model(segment, segment_memory=past), expected)


@torch.no_grad()
@pytest.mark.parametrize("side", ["left", "right", "anywhere"])
def test_padding_in_a_segment_is_not_remembered_as_text(side):
    model, rows = specimen("transformer-xl"), sentences(9, 6, 3)
    tokens, keep = padded(rows, side, extra=1)
    past = model.start_segment_memory(LONG)
    parts = zip(tokens.split(5, dim=1), keep.split(5, dim=1), strict=True)
    logits = torch.cat([model(part, keep=real, segment_memory=past) for part, real in parts], dim=1)
    close(logits[keep], torch.cat([model(row[None])[0] for row in rows]))


@torch.no_grad()
def test_a_short_memory_forgets():
    """What lies `length` tokens back has no influence; what lies nearer has. One layer, or depth would carry it on."""
    model = specimen("transformer-xl", layers=1)

    def after(text):
        past = model.start_segment_memory(3)
        model(text[:, :6], segment_memory=past)
        return model(text[:, 6:], segment_memory=past)

    text = torch.randint(VOCAB, (1, 8))
    far, near = text.clone(), text.clone()
    far[:, 2], near[:, 3] = (text[:, 2] + 1) % VOCAB, (text[:, 3] + 1) % VOCAB
    torch.testing.assert_close(after(far), after(text), rtol=0, atol=0)
    assert (after(near) - after(text)).abs().max() > 1e-3


def test_the_past_gets_no_gradient_but_its_projections_learn():
    """A word that occurs in the first segment alone is not moved by the second segment's loss, while the key and value
    projections are trained on what they make of it."""
    model = specimen("transformer-xl", layers=1)
    first, second = torch.tensor([[1, 2, 3]]), torch.tensor([[4, 5]])

    def gradients(past):
        model.zero_grad(set_to_none=True)
        if past is not None:
            model(first, segment_memory=past)
        states = model.decoder(second, segment_memory=past)  # without the head, which touches every row of a tied table
        states.square().sum().backward()
        return {
            name: parameter.grad.clone() for name, parameter in model.named_parameters() if parameter.grad is not None
        }

    remembered, forgotten = gradients(model.start_segment_memory(LONG)), gradients(None)
    assert remembered["decoder.front.embed.weight"][[1, 2, 3]].abs().max() == 0
    assert remembered["decoder.front.embed.weight"][[4, 5]].abs().max() > 0
    for name in ("k_proj", "v_proj", "position.r_proj"):
        name = f"decoder.layers.0.self_attn.{name}.weight"
        assert (remembered[name] - forgotten[name]).abs().max() > 1e-4, name


def test_memory_is_detached_and_bounded():
    segment_memory, x = SegmentMemory(LAYERS, length=3), torch.randn(2, 5, 8, requires_grad=True)
    assert segment_memory.exchange(0, x) is None
    past = segment_memory.exchange(0, x)
    assert not past.requires_grad
    torch.testing.assert_close(past, x[:, -3:], rtol=0, atol=0)
    assert segment_memory.exchange(1, x) is None  # every layer has a memory of its own


def test_a_memory_of_nothing_is_refused():
    with pytest.raises(ValueError, match="a segment memory of 0 tokens is empty; give at least 1"):
        specimen("transformer-xl").start_segment_memory(0)
