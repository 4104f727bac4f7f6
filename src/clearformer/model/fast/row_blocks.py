"""Rows for matrix kernels: in whole blocks, and without padding.

Kernels choose their summation order by the number of rows. In whole blocks a row's results are the same in
every batch (`steppers.py` says why that matters).
"""

import torch
from torch import Tensor

ROW_BLOCK = 4


def fill_block(rows: Tensor, block: int = ROW_BLOCK) -> Tensor:
    """Repeat the last entry until the count is a multiple of the block."""
    missing = -len(rows) % block
    if len(rows) == 1:
        return rows.expand(block, *rows.shape[1:])
    return rows if missing == 0 else torch.cat((rows, rows[-1:].expand(missing, *rows.shape[1:])))


class RealSlots:
    """The real slots of a padded batch: layers that work on each position alone are given only these.

    N sentences, S slots, R real slots in whole blocks. Half of a batch of sentences may be padding.
    """

    def __init__(self, keep: Tensor, block: int = ROW_BLOCK) -> None:
        """keep: N S, True = real. block: 1 leaves blocks out, where last bits may depend on the batch."""
        self._shape = keep.shape
        self.padded = not bool(keep.all())
        whole = not self.padded and keep.numel() % block == 0
        self._slots = None if whole else fill_block(keep.flatten().nonzero().squeeze(1), block)

    def take(self, x: Tensor) -> Tensor:
        """N S D -> R D."""
        x = x.flatten(0, 1)
        return x if self._slots is None else x.index_select(0, self._slots)

    def put(self, x: Tensor) -> Tensor:
        """R D -> N S D, zeros in the padding."""
        if self._slots is not None:
            x = x.new_zeros(self._shape.numel(), x.size(1)).index_copy_(0, self._slots, x)
        return x.view(*self._shape, -1)
