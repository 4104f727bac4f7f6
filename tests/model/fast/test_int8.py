"""A product with weights in eight bits: that of what they stand for, and no row sees another."""

import torch

from clearformer.model.fast.int8 import Int8Affine
from clearformer.model.rounded import to_eight


@torch.inference_mode()
def test_the_product_is_that_of_the_rounded_weight(monkeypatch):
    monkeypatch.setattr("clearformer.model.fast.int8.SMALL", 0)
    torch.manual_seed(3)
    weight, bias, x = torch.randn(96, 64), torch.randn(96), torch.randn(5, 64)
    found = Int8Affine.of(weight, bias)(x)
    expected = x.bfloat16().float() @ to_eight(weight).restored().T
    torch.testing.assert_close(found - bias, expected, rtol=1e-2, atol=1e-2 * float(expected.abs().max()))
    assert torch.equal(found[2:3], Int8Affine.of(weight, bias)(x[2:3]))
