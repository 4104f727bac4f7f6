"""Keys and values that generation projects once and keeps while a sequence grows.

B batch, G key/value heads, L room, K head width. Caches are passed into a model and written by it; they are never
stored on modules, so one model can serve any number of sequences.
"""

from collections.abc import Callable
from typing import Protocol, Self

import torch
import torch.nn.functional as F
from torch import Tensor

Projection = Callable[[], tuple[Tensor, Tensor]]


class LayerCache(Protocol):
    """The keys and values of one attention layer."""

    def extend(self, project: Projection) -> tuple[Tensor, Tensor]:
        """All keys and values to attend to, projecting only what is new."""

    def select(self, rows: Tensor) -> Self:
        """The same cache with other batch rows: `rows[i]` becomes row i."""


class Cache(Protocol):
    """The state of a whole decoder between steps, for any kind of decoder."""

    def select(self, rows: Tensor) -> Self:
        """The same state with its batch rows selected: beams reordered, finished rows dropped, or repeated."""

    def join(self, other: Self, rows: tuple[int, int]) -> Self:
        """The rows of both. rows: how many each has, since a cache does not know it before the first step."""


class GrowingCache:
    """Self-attention: each call appends. Room is allocated in advance and doubled when it runs out."""

    def __init__(self, room: int = 64) -> None:
        self._room, self._length = room, 0
        self._keys: Tensor | None = None
        self._values: Tensor | None = None

    def extend(self, project: Projection) -> tuple[Tensor, Tensor]:
        return self.append(*project())

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """All keys and values with the new ones behind them. k, v: B G T K; returns B G L K each."""
        start, self._length = self._length, self._length + k.size(2)
        self._keys = self._write(self._keys, k, start)
        self._values = self._write(self._values, v, start)
        return self._keys[:, :, : self._length], self._values[:, :, : self._length]

    def _write(self, buffer: Tensor | None, new: Tensor, start: int) -> Tensor:
        if buffer is None or self._length > buffer.size(2):
            self._room = max(self._room, 1 << (self._length - 1).bit_length())
            batch, groups, _, width = new.shape
            larger = new.new_empty(batch, groups, self._room, width)
            if buffer is not None:
                larger[:, :, :start] = buffer[:, :, :start]
            buffer = larger
        buffer[:, :, start : self._length] = new
        return buffer

    def select(self, rows: Tensor) -> "GrowingCache":
        chosen = GrowingCache(self._room)
        chosen._length = self._length
        if self._keys is not None and self._values is not None:
            chosen._keys = self._keys.index_select(0, rows)
            chosen._values = self._values.index_select(0, rows)
        return chosen

    def cut(self, length: int) -> None:
        """Forget all but the first `length` slots; the room stays."""
        self._length = min(self._length, length)

    def forget(self, count: int) -> None:
        """Let the first `count` slots go; the others move to the front, so that the room never grows for them."""
        kept = slice(count, self._length)
        self._length -= count
        self._keys, self._values = (self._moved(buffer, kept) for buffer in (self._keys, self._values))

    def _moved(self, buffer: Tensor | None, kept: slice) -> Tensor | None:
        """Some slots at the front of a buffer of the same size; a new one, since the slots may overlap."""
        if buffer is None:
            return None
        moved = torch.empty_like(buffer)
        moved[:, :, : self._length] = buffer[:, :, kept]
        return moved

    def join(self, other: "GrowingCache", rows: tuple[int, int], length: int) -> "GrowingCache":
        """The last `length` slots of both, so that both end at the same slot; what one does not have is zeros."""
        both = GrowingCache(max(self._room, other._room, 1 << max(length - 1, 0).bit_length()))
        both._length = length
        both._keys = both._align((self._keys, self._length), (other._keys, other._length), rows)
        both._values = both._align((self._values, self._length), (other._values, other._length), rows)
        return both

    def _align(
        self, one: tuple[Tensor | None, int], other: tuple[Tensor | None, int], rows: tuple[int, int]
    ) -> Tensor | None:
        """Two buffers with the lengths that they are filled to, one below the other, ending at this cache's length."""
        known = one[0] if one[0] is not None else other[0]
        if known is None:
            return None
        # Zeros, not uninitialised memory: masked slots have weight 0, and 0 times nan is nan.
        joined = known.new_zeros(sum(rows), known.size(1), self._room, known.size(3))
        for (buffer, past), start in zip((one, other), (0, rows[0]), strict=True):
            if buffer is not None:
                kept = min(past, self._length)
                slots = slice(self._length - kept, self._length)
                joined[start : start + len(buffer), :, slots] = buffer[:, :, past - kept : past]
        return joined


class FixedCache:
    """Cross-attention: the encoder's output is projected once."""

    def __init__(self, pair: tuple[Tensor, Tensor] | None = None) -> None:
        self._pair = pair

    def extend(self, project: Projection) -> tuple[Tensor, Tensor]:
        if self._pair is None:
            k, v = project()
            # The same layout as after `select`: kernels sum in another order over transposed memory.
            self._pair = k.contiguous(), v.contiguous()
        return self._pair

    def select(self, rows: Tensor) -> "FixedCache":
        if self._pair is None:
            return FixedCache()
        return FixedCache((self._pair[0].index_select(0, rows), self._pair[1].index_select(0, rows)))

    def join(self, other: "FixedCache") -> "FixedCache":
        """Both, the shorter source padded on the right. Where one is not projected yet, the next step projects all."""
        if self._pair is None or other._pair is None:
            return FixedCache()
        keys, values = (_below(*parts) for parts in zip(self._pair, other._pair, strict=True))
        return FixedCache((keys, values))


class Places:
    """Where the tokens so far stand: position ids, and which tokens are real. Part of every cache."""

    def __init__(self) -> None:
        self.positions: Tensor | None = None  # B S, or 1 S while nothing distinguishes the rows
        self.keep: Tensor | None = None  # B S, None while every token so far was a real one
        self._next: Tensor | int = 0

    def next_position(self) -> Tensor | int:
        """The position that the next token of each row takes. B 1."""
        return self._next

    def place(self, positions: Tensor, keep: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Register new tokens (positions B T, keep B T); returns positions and keep of all keys so far."""
        real = positions if keep is None else positions.masked_fill(~keep, -1)  # padding alone advances nothing
        ends = real.amax(dim=1, keepdim=True) + 1
        self._next = torch.maximum(ends, torch.as_tensor(self._next, device=ends.device))
        old = self.positions
        if old is None:
            self.positions, self.keep = positions, keep
            return positions, keep
        if self.keep is not None or keep is not None:
            self.keep = _join(
                _real(old) if self.keep is None else self.keep, _real(positions) if keep is None else keep
            )
        self.positions = _join(old, positions)
        return self.positions, self.keep

    def trim(self, length: int) -> None:
        """Forget all but the last `length` tokens."""
        self.positions = None if self.positions is None else self.positions[:, -length:]
        self.keep = None if self.keep is None else self.keep[:, -length:]

    def cut(self, length: int) -> None:
        """Forget all but the first `length` tokens, and go on from there."""
        self.positions = None if self.positions is None or not length else self.positions[:, :length]
        self.keep = None if self.keep is None or not length else self.keep[:, :length]
        if self.positions is None:
            self._next = 0
            return
        real = self.positions if self.keep is None else self.positions.masked_fill(~self.keep, -1)
        self._next = real.amax(dim=1, keepdim=True) + 1

    def choose(self, other: "Places", rows: Tensor) -> None:
        """Become a copy of another's rows; a single row that represents all rows stays one."""
        self.positions = None if other.positions is None else _rows(other.positions, rows)
        self.keep = None if other.keep is None else _rows(other.keep, rows)
        self._next = other._next if isinstance(other._next, int) else _rows(other._next, rows)

    def unite(self, one: "Places", other: "Places", rows: tuple[int, int]) -> None:
        """Become the rows of two. Both end at the same slot: the shorter past is padded on the left."""
        known = one.positions if one.positions is not None else other.positions
        if known is None:
            return  # nothing was placed yet, and every row begins at 0
        length = max(one.span(), other.span())
        parts = list(zip((one, other), rows, strict=True))
        self.positions = torch.cat([_last(part.positions, count, length, known) for part, count in parts])
        keeps = [_last(part.real(), count, length, known.bool()) for part, count in parts]
        self.keep = torch.cat(keeps)
        ends = [torch.as_tensor(part._next, device=known.device).expand(count, 1) for part, count in parts]
        self._next = torch.cat(ends)

    def real(self) -> Tensor | None:
        """Which tokens so far are real: B S, or None before the first."""
        return _real(self.positions) if self.keep is None and self.positions is not None else self.keep

    def span(self) -> int:
        """How many slots there are from the first that is real in any row. Rows that left may have had longer pasts."""
        if self.positions is None or self.keep is None:
            return 0 if self.positions is None else self.positions.size(1)
        used = self.keep.any(dim=0)
        return int(used.size(0) - used.int().argmax()) if bool(used.any()) else 0


class DecoderCache(Places):
    """The state of a decoder between steps: where the tokens so far stand, and each layer's keys and values."""

    def __init__(self, layers: int, *, room: int = 64) -> None:
        super().__init__()
        self.self_attn: list[GrowingCache] = [GrowingCache(room) for _ in range(layers)]
        self.cross_attn: list[FixedCache] = [FixedCache() for _ in range(layers)]

    def select(self, rows: Tensor) -> "DecoderCache":
        """The same cache with its batch rows selected: beams reordered, finished rows dropped, or repeated."""
        chosen = DecoderCache(0)
        chosen.choose(self, rows)
        chosen.self_attn = [cache.select(rows) for cache in self.self_attn]
        chosen.cross_attn = [cache.select(rows) for cache in self.cross_attn]
        return chosen

    def cut(self, length: int) -> None:
        """Forget all but the first `length` tokens: what followed them may be said anew in another way."""
        super().cut(length)
        for cache in self.self_attn:
            cache.cut(length)

    def forget(self, count: int) -> None:
        """Let the first `count` slots go. Positions go on: what counts distances does not notice."""
        length = 0 if self.positions is None else self.positions.size(1)
        count = min(count, length)
        if count <= 0:
            return
        self.positions = None if self.positions is None else self.positions[:, count:]
        self.keep = None if self.keep is None else self.keep[:, count:]
        for cache in self.self_attn:
            cache.forget(count)

    def hide(self, rows: Tensor, length: int) -> None:
        """Let some rows (B, boolean) see no more than the last `length` slots; slots that no row sees go."""
        if self.positions is None:
            return
        slots = self.positions.size(1)
        if bool(rows.all()):
            self.forget(slots - length)
            return
        old = torch.arange(slots, device=rows.device) < slots - length
        real = self.real()
        assert real is not None
        self.keep = real & ~(rows[:, None] & old)
        self.forget(slots - self.span())

    def join(self, other: "DecoderCache", rows: tuple[int, int]) -> "DecoderCache":
        """The rows of both, each with its own past. rows: how many each has."""
        both = DecoderCache(0)
        both.unite(self, other, rows)
        length = 0 if both.positions is None else both.positions.size(1)
        pairs = zip(self.self_attn, other.self_attn, strict=True)
        both.self_attn = [mine.join(theirs, rows, length) for mine, theirs in pairs]
        both.cross_attn = [mine.join(theirs) for mine, theirs in zip(self.cross_attn, other.cross_attn, strict=True)]
        return both


def join_rows(one: Tensor | None, other: Tensor | None, rows: tuple[int, int], dim: int = 0) -> Tensor | None:
    """The rows of both, which lie along `dim`; zeros for rows that have no values yet."""
    known = one if one is not None else other
    if known is None:
        return None
    before, after = known.shape[:dim], known.shape[dim + 1 :]
    missing = [known.new_zeros(*before, count, *after) for count in rows]
    return torch.cat([missing[0] if one is None else one, missing[1] if other is None else other], dim=dim)


def _below(one: Tensor, other: Tensor) -> Tensor:
    """Keys or values of two sources (B G S K), the shorter padded on the right."""
    length = max(one.size(2), other.size(2))
    return torch.cat([F.pad(part, (0, 0, 0, length - part.size(2))) for part in (one, other)])


def _last(part: Tensor | None, count: int, length: int, like: Tensor) -> Tensor:
    """The last `length` slots of `count` rows, zeros (False) before those that are there."""
    if part is None:
        return like.new_zeros(count, length)
    part = part[:, max(part.size(1) - length, 0) :].expand(count, -1)
    return F.pad(part, (length - part.size(1), 0))


def _real(positions: Tensor) -> Tensor:
    return torch.ones_like(positions, dtype=torch.bool)


def _join(old: Tensor, new: Tensor) -> Tensor:
    batch = max(old.size(0), new.size(0))
    return torch.cat((old.expand(batch, -1), new.expand(batch, -1)), dim=1)


def _rows(part: Tensor, rows: Tensor) -> Tensor:
    return part if part.size(0) == 1 else part.index_select(0, rows)
