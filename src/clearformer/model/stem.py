"""A stem: small convolutions that turn a picture into patch vectors, instead of one projection for each square.

A square by itself knows nothing of an edge that goes on in its neighbour, so a Transformer has to learn from many
pictures what convolutions know from the beginning; with a stem a few thousand pictures are enough (Xiao et al., 2021;
Hassani et al., 2021). B batch, C channels, Y X height and width, D model width.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.model.frontends import PictureFrontend
from clearformer.model.trace import note

NARROWEST = 32  # channels of the first convolutions, where the model is wide enough


class StemLayer(nn.Module):
    """A 3×3 convolution, a norm over the channels of each place, and ReLU; perhaps halved by taking the largest of 3×3.

    The norm comes after the halving, when there is a quarter left to normalise.
    """

    def __init__(self, channels: int, width: int, *, halve: bool) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, width, kernel_size=3, padding=1, bias=False)
        self.norm = nn.LayerNorm(width)
        self.halve = nn.MaxPool2d(3, stride=2, padding=1) if halve else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        """B C Y X -> B width Y X, or half of each side."""
        x = self.halve(self.conv(x.contiguous(memory_format=torch.channels_last)))
        x = F.relu(self.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2))
        note(self, "output", x)
        return x


class StemFrontend(PictureFrontend):
    """A picture halved until a patch is one place: each time `stem_layers` convolutions, twice as wide as before."""

    def __init__(self, dim: int, *, patch: int, stem_layers: int = 1, channels: int = 3, **others: Any) -> None:
        super().__init__(dim, patch=patch, channels=channels, **others)
        halvings = patch.bit_length() - 1
        if patch != 1 << halvings or not halvings:
            raise ValueError(f"a stem halves pictures again and again: a patch has 2, 4, 8, 16 … pixels, not {patch}")
        widths = [max(dim >> left, min(NARROWEST, dim)) for left in reversed(range(halvings))]
        layers: list[StemLayer] = []
        for width in widths:
            for left in reversed(range(stem_layers)):
                layers.append(StemLayer(channels, width, halve=left == 0))
                channels = width
        self.stem = nn.Sequential(*layers)
        self.stem_proj = nn.Linear(dim, dim)  # the stem ends in ReLU; vectors may be negative

    def embed(self, pictures: Tensor) -> Tensor:
        x: Tensor = self.stem_proj(self.stem(pictures).flatten(2).mT)
        return x
