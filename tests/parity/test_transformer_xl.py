"""Transformer-XL beside a plain reading of its paper.

The library that the other families are compared with has dropped this one, so the reference is
`plain_transformer_xl.py`.
"""

import pytest
import torch

from model.specimens import DIM, LAYERS, VOCAB, specimen
from parity.plain_transformer_xl import plain


@torch.no_grad()
@pytest.mark.parametrize("length", [2, 5, 100], ids=["short memory", "memory", "memory of everything"])
def test_three_segments(length):
    model, text = specimen("transformer-xl"), torch.randint(VOCAB, (2, 11))
    segment_memory, memories = model.start_segment_memory(length), [[torch.zeros(0, DIM)] * LAYERS for _ in text]
    for segment in text.split([4, 4, 3], dim=1):
        logits = model(segment, segment_memory=segment_memory)
        for row, tokens in enumerate(segment):
            expected, memories[row] = plain(model.state_dict(), tokens, memories[row], length)
            torch.testing.assert_close(logits[row], expected, rtol=1e-5, atol=1e-5)
