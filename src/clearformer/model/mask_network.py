"""A picture in, values for every pixel out: convolutions down, a Transformer where it is smallest, and the way back.

A Transformer sees the whole picture, but at a patch's resolution; where exactly an edge runs, only the stem's first
maps know. So the way back doubles the map again and again and each time puts beside it what the stem saw at that size
(Ronneberger et al., 2015; with a Transformer in the middle: Chen et al., 2021). B batch, C channels, Y X height and
width, T patches, D model width.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.model.stem import StemLayer
from clearformer.model.trace import note
from clearformer.model.transformer import Encoder


class Pyramid(nn.Module):
    """Maps of a picture, each half as high and wide as the one before, beginning with the picture's own size."""

    def __init__(self, channels: int, widths: Sequence[int], *, layers: int = 1) -> None:
        super().__init__()
        levels = []
        for number, width in enumerate(widths):
            first = StemLayer(channels, width, halve=number > 0)
            levels.append(nn.Sequential(first, *(StemLayer(width, width, halve=False) for _ in range(layers - 1))))
            channels = width
        self.levels = nn.ModuleList(levels)

    def forward(self, pictures: Tensor) -> list[Tensor]:
        """B C Y X -> the finest map first: B W Y X, B W Y/2 X/2, …"""
        maps: list[Tensor] = []
        x = pictures
        for level in self.levels:
            x = level(x)
            maps.append(x)
        return maps


class MaskDecoder(nn.Module):
    """From the smallest map back to the picture's size, then a value for every channel of every pixel."""

    def __init__(self, dim: int, widths: Sequence[int], *, channels: int, layers: int = 1) -> None:
        """widths: of the stem's maps, finest first; the last one stands beside the states."""
        super().__init__()
        levels, inputs = [], dim
        for width in reversed(widths):
            first = StemLayer(inputs + width, width, halve=False)
            levels.append(nn.Sequential(first, *(StemLayer(width, width, halve=False) for _ in range(layers - 1))))
            inputs = width
        self.levels = nn.ModuleList(levels)
        self.paint = nn.Conv2d(widths[0], channels, kernel_size=1)

    def forward(self, x: Tensor, maps: Sequence[Tensor]) -> Tensor:
        """x: B D Y X of the smallest size; maps: finest first. Returns B channels Y X of the finest size."""
        for level, beside in zip(self.levels, reversed(maps), strict=True):
            if x.shape[-2:] != beside.shape[-2:]:
                x = F.interpolate(x, scale_factor=2.0, mode="nearest")  # the next convolution smooths the steps
            x = level(torch.cat((x, beside.to(x.dtype)), dim=1))
        values: Tensor = self.paint(x)
        return values


class MaskNetwork(nn.Module):
    """A stem, an encoder over its smallest map, and a decoder back to every pixel."""

    def __init__(self, stem: Pyramid, encoder: Encoder, head: MaskDecoder) -> None:
        """encoder: its front end reads the stem's smallest map, one place a token, without a class token."""
        super().__init__()
        self.stem, self.encoder, self.head = stem, encoder, head

    def forward(self, pictures: Tensor) -> Tensor:
        """pictures: B C Y X; returns values B channels Y X."""
        maps = self.stem(pictures)
        states = self.encoder(maps[-1]).states
        x = states.mT.unflatten(2, maps[-1].shape[-2:])  # B D Y X
        logits: Tensor = self.head(x, maps)
        note(self, "logits", logits)
        return logits
