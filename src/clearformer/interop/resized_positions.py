"""Positions of a picture encoder that were trained for larger pictures than those that its folder prepares.

Where the published program interpolates them at every call (DINOv2), an import does it once: the model here then has
the size of the pictures that it is given, and no formula of its own for others.
"""

from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor

from clearformer.interop.renaming import Shape, Store
from clearformer.model.config import ModelConfig

TABLE = "embeddings.position_embeddings"


def for_pictures_of(config: ModelConfig, store: Store, size: int) -> tuple[ModelConfig, Store, str]:
    """Configuration and weights for pictures of this size, and a note about it."""
    front = config.front
    if size % front.patch:
        raise ValueError(f"pictures of {size}×{size} do not divide into patches of {front.patch}×{front.patch}")
    resized = replace(config, front=replace(front, picture=size))
    old, new = (side // front.patch for side in (front.picture, size))
    note = f"positions of {old}×{old} patches were interpolated to {new}×{new}, as the published program does"
    return resized, ResizedPositions(store, old, new), note


class ResizedPositions:
    """A store whose table of positions, 1 (1 + patches) D, is for another number of patches. sides: in patches."""

    def __init__(self, store: Store, old: int, new: int) -> None:
        self._store, self._old, self._new = store, old, new
        self.shapes: dict[str, Shape] = dict(store.shapes)
        for name, shape in store.shapes.items():
            if name.endswith(TABLE) and len(shape) == 3 and shape[1] == 1 + old * old:
                self.shapes[name] = (shape[0], 1 + new * new, shape[2])

    def read(self, name: str) -> Tensor:
        value = self._store.read(name)
        if self.shapes[name] == self._store.shapes[name]:
            return value
        first, patches = value[:, :1].float(), value[:, 1:].float()
        square = patches.view(1, self._old, self._old, -1).permute(0, 3, 1, 2)  # 1 D y x
        other = F.interpolate(square, size=(self._new, self._new), mode="bicubic", align_corners=False)
        return torch.cat((first, other.flatten(2).mT), dim=1)
