"""Attention between short sequences: the readable path's numbers and gradients, and used only where it is faster."""

import pytest
import torch

from clearformer.model import masks
from clearformer.model.attention import attend, attend_fused
from clearformer.model.fast import short_attention

B, H, T, S, K = 3, 4, 5, 7, 8


def operands(*, value_dim=K, heads=H):
    generator = torch.Generator().manual_seed(3)
    shapes = ((B, T, H, K), (B, S, heads, K), (B, S, heads, value_dim))
    # As layers make them: heads cut out of the width, so that rows of a head do not lie together in memory.
    return [torch.randn(shape, generator=generator).transpose(1, 2).requires_grad_() for shape in shapes]


def learn(kernel, given, **settings):
    gathered = kernel(*given, **settings)
    return [gathered, *torch.autograd.grad((gathered * torch.arange(1.0, 1 + gathered.size(-1))).sum(), given)]


KEEP = torch.arange(S) < torch.tensor([[S], [3], [1]])
MASKS = {
    "everything": None,
    "padding": masks.padding(KEEP),
    "causal": masks.causal(T, S),
    "both": masks.both(masks.causal(T, S), masks.padding(KEEP)),
    "an empty row": masks.padding(KEEP) & (torch.arange(T) != 2)[:, None],
    "a mask by head": torch.rand(B, H, T, S, generator=torch.Generator().manual_seed(1)) > 0.5,
}


@pytest.mark.parametrize("value_dim", [K, 6])
@pytest.mark.parametrize("scale", [None, 0.7])
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_equal_to_the_readable_path(mask, scale, value_dim):
    given = operands(value_dim=value_dim)
    for ours, wanted in zip(
        learn(short_attention.attend_short, given, mask=mask, scale=scale),
        learn(attend, given, mask=mask, scale=scale),
        strict=True,
    ):
        torch.testing.assert_close(ours, wanted, rtol=1e-5, atol=1e-5)


def test_large_scores_stay_numbers():
    given = [(1e18 * x).detach().requires_grad_() for x in operands()]
    for value in learn(short_attention.attend_short, given, mask=MASKS["an empty row"], scale=1.0):
        assert value.isfinite().all()


def test_the_fused_path_takes_it_while_learning(monkeypatch):
    calls = []
    monkeypatch.setattr(short_attention, "attend_short", lambda q, *_, **__: calls.append(q) or q)
    q, k, v = operands()
    attend_fused(q, k, v)
    assert len(calls) == 1
    attend_fused(q, k, v, bias=torch.zeros(T, S))  # it knows no bias
    attend_fused(q, k, v, dropout=0.5)
    attend_fused(q, *(x[:, :2] for x in (k, v)))  # nor shared heads
    with torch.no_grad():
        attend_fused(q, k, v)  # a row's bits must not depend on its batch mates here
    attend_fused(q.detach(), k, v)
    long = torch.randn(1, H, short_attention.LONGEST + 1, K, requires_grad=True)
    attend_fused(long, long, long)
    with torch.autocast("cpu", torch.bfloat16):
        attend_fused(q, k, v)
    assert len(calls) == 1
