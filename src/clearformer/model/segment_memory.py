"""Transformer-XL's memory: the states of the previous segment, attended to but not trained (Dai et al., 2019).

Unlike a cache of keys and values it keeps the inputs of each layer, so that the projections still learn from the past.
B batch, N layers, P remembered length, D model width.
"""

from typing import Self

import torch
from torch import Tensor

from clearformer.model.cache import Places


class SegmentMemory(Places):
    """Each layer's previous inputs, at most `length` positions."""

    def __init__(self, layers: int, *, length: int) -> None:
        super().__init__()
        if length < 1:
            raise ValueError(f"a segment memory of {length} tokens is empty; give at least 1")
        self.limit = length
        self._states: list[Tensor | None] = [None] * layers

    @classmethod
    def holding(cls, states: Tensor, *, length: int) -> Self:
        """A memory that goes on from what another left behind. states: B N P D, as `states` returns it."""
        memory = cls(states.size(1), length=length)
        kept = states[:, :, -length:].detach()
        memory._states = list(kept.unbind(dim=1))
        memory.positions = torch.arange(kept.size(2), device=states.device)[None]
        memory._next = kept.size(2)
        return memory

    def states(self) -> Tensor | None:
        """What is remembered, B N P D, or None before the first segment. Every token of it is taken for a real one."""
        known = [states for states in self._states if states is not None]
        return torch.stack(known, dim=1) if known else None

    def place(self, positions: Tensor, keep: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Positions and keep of memory and new tokens together; then forget what is too far back."""
        keys, key_keep = super().place(positions, keep)
        self.trim(self.limit)
        return keys, key_keep

    def exchange(self, layer: int, x: Tensor) -> Tensor | None:
        """Return the layer's previous inputs and store the new ones. x: B T D; returns B P D."""
        past = self._states[layer]
        joined = x.detach() if past is None else torch.cat((past, x.detach()), dim=1)
        self._states[layer] = joined[:, -self.limit :]
        return past
