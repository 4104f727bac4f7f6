"""A product with weights in four bits: that of what they stand for, and no row sees another."""

import pytest
import torch

from clearformer.model.fast import int4
from clearformer.model.fast.int4 import Int4Affine
from clearformer.model.rounded import to_four


@pytest.mark.parametrize("rows", [1, 5, 40])
@torch.inference_mode()
def test_the_product_is_that_of_the_rounded_weight(rows):
    torch.manual_seed(3)
    weight, bias, x = to_four(torch.randn(96, 128)), torch.randn(96), torch.randn(rows, 128)
    found = Int4Affine.around(weight, bias)(x)
    expected = x.bfloat16().float() @ weight.restored().T
    torch.testing.assert_close(found - bias, expected, rtol=1e-2, atol=1e-2 * float(expected.abs().max()))
    assert torch.equal(found[:1], Int4Affine.around(weight, bias)(x[:1]))


@torch.inference_mode()
def test_without_the_kernel_the_weight_is_restored(monkeypatch):
    monkeypatch.setattr(int4, "is_available", lambda: False)
    weight, x = to_four(torch.randn(32, 64)), torch.randn(2, 64)
    torch.testing.assert_close(Int4Affine.around(weight, None)(x), x @ weight.restored().T, rtol=1e-5, atol=1e-5)
