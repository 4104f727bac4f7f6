"""Weights laid out for speed: the same products, and a row's bits its own."""

import pytest
import torch

from clearformer.model.fast.packed import Affine


@pytest.mark.parametrize("width", [32, 128, 512])
@torch.inference_mode()
def test_packed_weights_give_a_row_the_same_bits_in_any_number_of_rows(width, monkeypatch):
    monkeypatch.setattr("clearformer.model.fast.packed.LARGE", 0)
    weight, bias, x = torch.randn(1003, width), torch.randn(1003), torch.randn(64, width)
    affine = Affine.of(weight, bias)
    if not affine.packed:
        pytest.skip("this torch has no oneDNN, so weights are multiplied as they lie")
    together = affine(x)
    torch.testing.assert_close(together, x @ weight.mT + bias, rtol=1e-4, atol=1e-4)
    for count in (1, 2, 3, 4, 5, 7, 8, 16, 33):
        assert torch.equal(affine(x[:count]), together[:count])
