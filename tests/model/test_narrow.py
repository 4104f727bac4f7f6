"""Weights in two bytes: the numbers of float32, for one row or many, with gradients or without."""

import pytest
import torch
import torch.nn.functional as F

from clearformer.model import narrow
from clearformer.model.narrow import HALVES, NarrowEmbedding, is_half, multiply_blocks, narrowed, wide_linear


@pytest.mark.parametrize("kind", HALVES)
@pytest.mark.parametrize("shape", [(1, 12), (5, 12), (2, 3, 12)])
def test_a_product_is_that_of_the_same_weight_in_float32(kind, shape, monkeypatch):
    monkeypatch.setattr(narrow, "BLOCK", 40)  # several blocks, and a smaller last one
    torch.manual_seed(1)
    x, weight, bias = torch.randn(shape), torch.randn(17, 12).to(kind), torch.randn(17)
    with torch.no_grad():
        found = wide_linear(x, weight, bias)
    torch.testing.assert_close(found, F.linear(x, weight.float(), bias), rtol=1e-6, atol=1e-6)


def test_a_product_may_fill_columns_of_a_wider_matrix():
    x, weight, wide = torch.randn(3, 4), torch.randn(5, 4).bfloat16(), torch.zeros(3, 9)
    multiply_blocks(x, weight, wide[:, 2:7])
    torch.testing.assert_close(wide[:, 2:7], x @ weight.float().T)
    assert not wide[:, :2].any()
    assert not wide[:, 7:].any()


def test_inputs_have_gradients():
    x, weight = torch.randn(2, 4, requires_grad=True), torch.randn(3, 4).bfloat16()
    wide_linear(x, weight).sum().backward()
    torch.testing.assert_close(x.grad, weight.float().sum(0).expand(2, 4))


def test_what_is_looked_up_is_float32():
    table = narrowed(torch.nn.Embedding(5, 3))
    assert isinstance(table, NarrowEmbedding)
    table.weight = torch.nn.Parameter(torch.randn(5, 3).bfloat16(), requires_grad=False)
    found = table(torch.tensor([[4, 0]]))
    assert found.dtype == torch.float32
    assert torch.equal(found[0], table.weight[[4, 0]].float())


def test_two_bytes_are_known():
    assert [is_half(torch.zeros(1, dtype=kind)) for kind in (*HALVES, torch.float32, torch.int8)] == [1, 1, 0, 0]
    assert not is_half(None)
