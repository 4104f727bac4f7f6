"""With and without feed-forward parts."""

import torch

from clearformer.lab.experiments.feed_forward_use import AddsNothing, leave_out
from clearformer.model.build import build
from clearformer.model.families import gpt2


def test_left_out_it_adds_nothing(found, had_it_been):
    model = build(gpt2(vocab_size=10, dim=16, hidden_dim=32, layers=2, heads=2, max_len=8))
    leave_out(model)
    assert all(isinstance(layer.ffn, AddsNothing) for layer in model.decoder.layers)
    assert AddsNothing()(torch.ones(2, 3)).sum() == 0
    none, narrow, usual, wide, gelu = (
        float(row[1].replace(",", "")) for row in found("feed-forward-use")[1].tables[0].rows
    )
    assert none < narrow < usual == gelu < wide
    better = {"none": {"loss": 2.0}, "64": {"loss": 3.0}, "256": {"loss": 3.0}}
    assert had_it_been("feed-forward-use", better) == "does not hold"
