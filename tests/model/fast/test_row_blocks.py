"""Whole blocks of rows, and real slots among padding: nothing is lost, nothing is invented."""

import pytest
import torch

from clearformer.model.fast.row_blocks import ROW_BLOCK, RealSlots, fill_block


@pytest.mark.parametrize("shape", [(), (3,)])
@pytest.mark.parametrize("count", [1, ROW_BLOCK - 1, ROW_BLOCK, ROW_BLOCK + 1])
def test_rows_are_filled_up_to_whole_blocks_with_the_last(count, shape):
    rows = torch.randn(count, *shape)
    filled = fill_block(rows)
    assert len(filled) % ROW_BLOCK == 0
    assert len(filled) - count < ROW_BLOCK
    assert torch.equal(filled[:count], rows)
    assert all(torch.equal(row, rows[-1]) for row in filled[count:])


@pytest.mark.parametrize("share", [0.2, 0.7, 1.0])
@pytest.mark.parametrize("shape", [(1, 1), (1, 16), (3, 5), (4, 16)])
def test_what_is_real_comes_back_to_its_place_and_the_rest_is_zero(shape, share):
    keep = torch.rand(shape) < share
    keep[:, 0] = True
    x = torch.randn(*shape, 6)
    real = RealSlots(keep)
    taken = real.take(x)
    assert len(taken) % ROW_BLOCK == 0
    assert len(taken) - int(keep.sum()) < ROW_BLOCK
    assert torch.equal(real.put(taken), x.masked_fill(~keep[..., None], 0.0))
