"""Transformer-XL's memory: the states of the previous segment, attended to but not trained (Dai et al., 2019).

Unlike a cache of keys and values it keeps the inputs of each layer, so that the projections still learn from the past.
B batch, P remembered length, D model width.
"""

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
