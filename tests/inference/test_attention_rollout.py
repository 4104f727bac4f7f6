"""Attention rollout: products of maps, by hand and of a real model."""

import pytest
import torch

from clearformer.inference.attention_rollout import attention_rollout, roll_out
from clearformer.model.build import build
from clearformer.model.config import HeadConfig
from clearformer.model.families import bert


def test_one_layer_by_hand():
    """Half of a place is itself, by the residual path; the other half is the mean of its heads."""
    heads = torch.tensor([[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]]])
    torch.testing.assert_close(roll_out([heads]), torch.tensor([[0.75, 0.25], [0.5, 0.5]], dtype=torch.float64))


def test_layers_are_multiplied_and_the_last_stands_on_the_left():
    one = torch.tensor([[[0.0, 1.0], [0.0, 1.0]]])
    other = torch.tensor([[[1.0, 0.0], [1.0, 0.0]]])
    mixed = {id(m): 0.5 * m[0].double() + 0.5 * torch.eye(2, dtype=torch.float64) for m in (one, other)}
    torch.testing.assert_close(roll_out([one, other]), mixed[id(other)] @ mixed[id(one)])


def test_shares_sum_to_one_and_padding_has_none():
    torch.manual_seed(0)
    model = build(
        bert(
            vocab_size=30, dim=16, hidden_dim=24, layers=3, heads=2, max_len=12, head=HeadConfig(kind="class", labels=2)
        )
    ).eval()
    tokens = torch.randint(30, (1, 8))
    keep = torch.arange(8)[None] < 5
    found = attention_rollout(model, tokens, keep)
    torch.testing.assert_close(found.sum(dim=1), torch.ones(8, dtype=torch.float64))
    assert float(found[:5, 5:].abs().max()) == 0
    alone = attention_rollout(model, tokens[:, :5], keep[:, :5])
    torch.testing.assert_close(found[:5, :5], alone, rtol=1e-5, atol=1e-6)


def test_a_network_without_attention_is_told_to_use_the_other_method():
    class Plain(torch.nn.Module):
        def forward(self, tokens, keep):
            return tokens

    with pytest.raises(ValueError, match="no attention to roll out; explain it by the gradient method"):
        attention_rollout(Plain(), torch.zeros(1, 2), torch.ones(1, 2))
