"""The fast decoder's state between steps: keys and values that are never copied.

The hypotheses of a sentence share its source and most of their past. A *group* holds what they share: the projected
source once, and every key and value that any of them ever wrote, in the order of writing. A row (one hypothesis) sees
only the slots of its own ancestors in its group. So reordering a beam selects rows of a small table of who sees what;
no key is copied. Only when a sentence leaves are others moved, and then only those that fill an empty place.

N groups, W rows of each group, R = N · W rows, L slots written so far, S source slots, H heads, K head width.
"""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass
class BeamCache:
    """The state of a search over N groups with W rows each; row r belongs to group r // W."""

    source: Tensor  # layers 2 N H S K, keys and values of the sources
    source_bias: Tensor  # N 1 1 S, zero where the source is real, the lowest number elsewhere
    kept: Tensor  # layers 2 N H room K, keys and values of what was written
    count: int  # N; the tensors may have room for more
    width: int = 1
    length: int = 0  # L
    step: int = 0
    bias: Tensor | None = None  # R L, zero where a row sees a slot, the lowest number elsewhere; None: all see all
    _own: Tensor | None = None  # the bias on the newest slots, the same at every step

    @property
    def rows(self) -> int:
        return self.count * self.width

    def open(self) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
        """Slots for one more token of each row: where to write (layers 2 N H W K), all keys and values so far with
        them (layers N·H L K each), and the bias on their scores (N 1 W L)."""
        start, self.length, self.step = self.length, self.length + self.width, self.step + 1
        if self.length > self.kept.size(4):
            self._widen()
        kept = self.kept[:, :, : self.count]
        if self.bias is not None:
            self.bias = torch.cat((self.bias, self._own_slots()), dim=1)
        keys, values = kept.flatten(2, 3)[:, :, :, : self.length].unbind(1)
        bias = None if self.bias is None else self.bias.view(self.count, 1, self.width, self.length)
        return kept[:, :, :, :, start : self.length], keys, values, bias

    @torch.inference_mode()  # searches select rows outside the steps that made these tensors
    def select(self, rows: Tensor) -> "BeamCache":
        """These rows, in this order. Neighbours from one group share a group again."""
        groups, widths = torch.unique_consecutive(rows // self.width, return_counts=True)
        wide = int(widths[0]) if len(rows) else 1
        if bool((widths != wide).any()):  # no common width: each row gets its own group
            groups, wide = rows // self.width, 1
        if self.bias is not None:
            self.bias = self.bias.index_select(0, rows)
        elif wide > 1:
            self.bias = self.kept.new_zeros(len(rows), self.length)
        self._move(groups)
        self.count, self.width = len(groups), wide
        return self

    def join(self, other: "BeamCache") -> "BeamCache":
        """Refused: all rows of this cache are at the same position, and its layout depends on that."""
        raise ValueError(
            "the fast decoder's rows all take the same step, so no row can join later; use Seq2SeqStepper for that"
        )

    def _move(self, groups: Tensor) -> None:
        """Put group `groups[i]` at index i. Where the last groups fill empty places, only they are copied."""
        places = torch.arange(len(groups), device=groups.device)
        moved = (groups != places).nonzero().squeeze(1)
        if not len(moved):
            return
        taken = groups[moved]
        if bool((taken >= len(groups)).all()):  # no source of a copy is also a target
            self.source[:, :, moved] = self.source[:, :, taken]
            self.source_bias[moved] = self.source_bias[taken]
            self.kept[:, :, moved, :, : self.length] = self.kept[:, :, taken, :, : self.length]
            return
        self.source, self.source_bias = self.source.index_select(2, groups), self.source_bias.index_select(0, groups)
        old, used = self.kept, self.length
        self.kept = _room_like(old, len(groups), old.size(4))
        self.kept[..., :used, :] = old[..., :used, :].index_select(2, groups)

    def _widen(self) -> None:
        old, used = self.kept, self.length - self.width
        self.kept = _room_like(old, self.count, 1 << (self.length - 1).bit_length())
        self.kept[..., :used, :] = old[:, :, : self.count, :, :used]

    def _own_slots(self) -> Tensor:
        """Of the slots being written, each row sees its own: R W."""
        if self._own is None or self._own.shape != (self.rows, self.width):
            lowest = torch.finfo(self.kept.dtype).min
            others = self.kept.new_full((self.width, self.width), lowest).fill_diagonal_(0.0)
            self._own = others.repeat(self.count, 1)
        return self._own


def _room_like(kept: Tensor, count: int, room: int) -> Tensor:
    layers, two, _, heads, _, width = kept.shape
    return kept.new_empty(layers, two, count, heads, room, width)
