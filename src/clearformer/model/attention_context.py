"""One attention pattern for a whole stack: where queries and keys stand, and who may look at whom."""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor

from clearformer.model import masks

T = TypeVar("T")


class AttentionContext:
    """What every layer of a stack shares in one forward pass.

    queries: B T and keys: B S are explicit position ids (the batch dimension may be 1), so that left padding, packing
    and caching need no special case. `fresh` are the positions of the keys that this call projects: all of them, or,
    with a cache, only the new ones. mask: boolean, broadcasts to B H T S.
    """

    def __init__(
        self,
        queries: Tensor,
        keys: Tensor,
        *,
        fresh: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> None:
        if mask is not None:
            masks.check(mask)
        self.queries, self.keys, self.mask = queries, keys, mask
        self.fresh = keys if fresh is None else fresh
        self._memo: dict[Hashable, Any] = {}

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Compute a value that all layers share once, when the first layer asks for it."""
        if key not in self._memo:
            self._memo[key] = compute()
        result: T = self._memo[key]
        return result

    def distances(self) -> Tensor:
        """How far each key stands behind its query: query position minus key position. B T S."""
        return self.once("distances", lambda: self.queries[:, :, None] - self.keys[:, None, :])


class Memory(NamedTuple):
    """What an encoder returns: states B S D, which of them are real (B S, None = all), and their packing segments.

    tokens: B S, what the source consists of, for a head that copies from it.
    """

    states: Tensor
    keep: Tensor | None = None
    segments: Tensor | None = None
    tokens: Tensor | None = None

    def select(self, rows: Tensor) -> "Memory":
        """The same memory with other batch rows: `rows[i]` becomes row i."""
        return Memory(*(None if part is None else part.index_select(0, rows) for part in self))  # type: ignore[arg-type]

    def join(self, other: "Memory") -> "Memory":
        """The rows of both; a shorter source is padded on the right, and marked as padding."""
        if self.segments is not None or other.segments is not None:
            raise ValueError("packed rows are for training: encode without segments to join rows")
        length = max(self.states.size(1), other.states.size(1))
        states = torch.cat([_pad_slots(part.states, length) for part in (self, other)])
        tokens = None
        if self.tokens is not None and other.tokens is not None:
            tokens = torch.cat([_pad_slots(part, length) for part in (self.tokens, other.tokens)])
        same = self.states.size(1) == other.states.size(1)
        if same and self.keep is None and other.keep is None:
            return Memory(states, tokens=tokens)
        real = [torch.ones(part.states.shape[:2], dtype=torch.bool, device=states.device) for part in (self, other)]
        keeps = [mine if part.keep is None else part.keep for part, mine in zip((self, other), real, strict=True)]
        return Memory(states, torch.cat([_pad_slots(keep, length) for keep in keeps]), tokens=tokens)


def _pad_slots(part: Tensor, length: int) -> Tensor:
    """Zeros (False) behind what is there. part: B S …; returns B length …"""
    missing = part.new_zeros(part.size(0), length - part.size(1), *part.shape[2:])
    return torch.cat((part, missing), dim=1)


def position_ids(
    shape: torch.Size,
    keep: Tensor | None,
    start: Tensor | int = 0,
    *,
    segments: Tensor | None = None,
    device: torch.device,
) -> Tensor:
    """Position ids that count real tokens only. shape: (B, T); returns B T (1 T when nothing distinguishes the rows).

    Padding repeats a neighbour's position: it is masked, and it can never exceed a table that the tokens fit in.
    With segments (B T, packed rows) the count restarts wherever the segment changes.
    """
    if len(shape) != 2:
        raise ValueError(f"tokens must be integers, batch × length, but have shape {tuple(shape)}")
    if keep is not None:
        check_keep(keep, shape)
    if keep is None and segments is None:
        return torch.arange(shape[1], device=device)[None] + start
    real = torch.ones(shape, dtype=torch.long, device=device) if keep is None else keep.long()
    count = real.cumsum(dim=1)
    if segments is not None:
        begins = segments.diff(dim=1, prepend=segments[:, :1]) != 0
        count = count - torch.where(begins, count - real, 0).cummax(dim=1).values  # minus those before the segment
    return (count - 1).clamp(min=0) + start


def check_keep(keep: Tensor, shape: torch.Size) -> None:
    """Refuse a keep that is not boolean or does not have the input's shape. shape: (B, T)."""
    masks.check(keep, "keep")
    if keep.shape != shape:
        raise ValueError(f"keep has shape {tuple(keep.shape)}, but the input is {tuple(shape)}")
