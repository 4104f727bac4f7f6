"""Weights in eight bits: how far they may be off, and that rounding twice is rounding once."""

import pytest
import torch

from clearformer.model.fast.int8 import STEPS, Int8Affine, restored, rounded


@pytest.mark.parametrize("size", [1e-3, 1.0, 300.0])
def test_no_weight_is_off_by_more_than_half_a_step(size):
    torch.manual_seed(1)
    weight = torch.randn(40, 50) * size
    values, scale = rounded(weight)
    assert values.dtype == torch.int8
    assert int(values.abs().max()) <= STEPS
    # the largest of a row may lose a little more, since scales have the eight bits of bfloat16 themselves
    off = (restored(values, scale) - weight).abs()
    assert bool((off <= scale[:, None] * 0.76).all())
    assert float((off <= scale[:, None] * 0.501).float().mean()) > 0.98


def test_what_was_rounded_rounds_to_itself():
    torch.manual_seed(2)
    values, scale = rounded(torch.randn(64, 33) * torch.rand(64, 1) * 10)
    again, same = rounded(restored(values, scale))
    assert torch.equal(again, values)
    assert torch.equal(same, scale)


def test_a_row_of_zeros_stays_zeros():
    values, scale = rounded(torch.zeros(2, 3))
    assert torch.equal(restored(values, scale), torch.zeros(2, 3))
    assert bool(scale.isfinite().all())


@torch.inference_mode()
def test_the_product_is_that_of_the_rounded_weight(monkeypatch):
    monkeypatch.setattr("clearformer.model.fast.int8.SMALL", 0)
    torch.manual_seed(3)
    weight, bias, x = torch.randn(96, 64), torch.randn(96), torch.randn(5, 64)
    found = Int8Affine.of(weight, bias)(x)
    expected = x.bfloat16().float() @ restored(*rounded(weight)).T
    torch.testing.assert_close(found - bias, expected, rtol=1e-2, atol=1e-2 * float(expected.abs().max()))
    assert torch.equal(found[2:3], Int8Affine.of(weight, bias)(x[2:3]))
