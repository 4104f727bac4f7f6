"""Attention by blocks of queries: the readable path's numbers and gradients, and used only where it is faster."""

import pytest
import torch

from clearformer.model import masks
from clearformer.model.attention import attend, attend_fused
from clearformer.model.fast import block_attention

B, H, T, S, K = 3, 4, 11, 7, 8


def operands(*, keys=S, value_dim=K, heads=H, dtype=torch.float32):
    generator = torch.Generator().manual_seed(3)
    shapes = ((B, T, H, K), (B, keys, heads, K), (B, keys, heads, value_dim))
    # As layers make them: heads cut out of the width, so that rows of a head do not lie together in memory.
    return [torch.randn(s, generator=generator).to(dtype).transpose(1, 2).requires_grad_() for s in shapes]


def learn(kernel, given, **settings):
    gathered = kernel(*given, **settings)
    goal = (gathered * torch.arange(1.0, 1 + gathered.size(-1))).sum()
    return [gathered, *torch.autograd.grad(goal, given)]


def keep_of(keys):
    return torch.arange(keys) < torch.tensor([[keys], [3], [1]])


def cases(keys):
    return {
        "everything": None,
        "padding": masks.padding(keep_of(keys)),
        "causal": masks.causal(T, keys) if keys >= T else None,
        "both": masks.both(masks.causal(T, keys), masks.padding(keep_of(keys))) if keys >= T else None,
        "an empty row": masks.padding(keep_of(keys)) & (torch.arange(T) != 2)[:, None],
        "a mask by head": torch.rand(B, H, T, keys, generator=torch.Generator().manual_seed(1)) > 0.5,
    }


@pytest.fixture(params=[3, 64], ids=["several blocks", "one block"])
def block(request, monkeypatch):
    monkeypatch.setattr(block_attention, "BLOCK", request.param)


@pytest.mark.parametrize("value_dim", [K, 6])
@pytest.mark.parametrize("scale", [None, 0.7])
@pytest.mark.parametrize("keys", [S, T], ids=["cross", "self"])
@pytest.mark.parametrize("case", cases(T))
def test_equal_to_the_readable_path(block, case, keys, scale, value_dim):
    given, mask = operands(keys=keys, value_dim=value_dim), cases(keys)[case]
    for ours, wanted in zip(
        learn(block_attention.attend_blocks, given, mask=mask, scale=scale),
        learn(attend, given, mask=mask, scale=scale),
        strict=True,
    ):
        torch.testing.assert_close(ours, wanted, rtol=1e-5, atol=1e-5)


def test_in_bfloat16_it_is_as_near_to_the_truth_as_the_readable_path(block):
    given = operands(keys=T, dtype=torch.bfloat16)
    exact = [x.detach().float().requires_grad_() for x in given]
    mask = masks.causal(T, T)
    truth = learn(attend, exact, mask=mask)
    found, readable = (
        learn(block_attention.attend_blocks, given, mask=mask, scale=None),
        learn(attend, given, mask=mask),
    )
    for ours, theirs, right in zip(found, readable, truth, strict=True):
        assert ours.dtype == torch.bfloat16
        assert (ours - right).norm() < 1.5 * (theirs - right).norm() + 0.005 * right.norm()


def test_a_block_is_given_no_key_that_stands_behind_it(monkeypatch):
    monkeypatch.setattr(block_attention, "BLOCK", 4)
    assert block_attention._ends(masks.causal(T, T), T, T) == [4, 8, 11]
    assert block_attention._ends(None, T, T) == [11, 11, 11]
    ahead = masks.causal(T, T).clone()
    ahead[0, 10] = True
    assert block_attention._ends(ahead, T, T) == [11, 11, 11]


def test_the_fused_path_takes_it_while_learning_in_bfloat16(monkeypatch):
    calls = []
    monkeypatch.setattr(block_attention, "attend_blocks", lambda q, *_, **__: calls.append(q) or q)
    q, k, v = operands(keys=T, dtype=torch.bfloat16)
    attend_fused(q, k, v)
    assert len(calls) == 1
    attend_fused(q, k, v, bias=torch.zeros(T, T))  # it knows no bias
    attend_fused(q, k, v, dropout=0.5)
    attend_fused(q, *(x[:, :2] for x in (k, v)))  # nor shared heads
    with torch.no_grad():
        attend_fused(q, k, v)
    attend_fused(*(x.detach().float().requires_grad_() for x in (q, k, v)))  # in float32 others are as fast
    assert len(calls) == 1
