"""The baseline for pictures: convolutions in residuals where a Vision Transformer has its layers (He et al., 2016).

Front end and head are the Transformer's own, with or without a convolutional stem, so the two differ by what mixes the
places of a picture: neighbours with neighbours here, everything with everything there. B batch, T places, D model
width, Y X places along each side.
"""

import math
from collections.abc import Sequence

import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.model.attention_context import Memory
from clearformer.model.dropout import Dropout
from clearformer.model.trace import note


class PictureConvolutionLayer(nn.Module):
    """Norm, ReLU and convolution, twice, in one residual. The norm is over the channels of each place, so a picture
    alone gives the same numbers as in a batch."""

    def __init__(self, dim: int, *, kernel: int = 3, dropout: float = 0.0) -> None:
        super().__init__()
        if kernel % 2 == 0:
            raise ValueError(f"a layer sees equally far to all sides, so the kernel must be odd, not {kernel}")
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(2))
        self.convs = nn.ModuleList(nn.Conv2d(dim, dim, kernel, padding=kernel // 2, bias=False) for _ in range(2))
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """x: B Y X D, returned alike."""
        mixed = x
        for norm, conv in zip(self.norms, self.convs, strict=True):
            mixed = conv(F.relu(norm(mixed)).permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        output: Tensor = x + self.dropout(mixed)
        note(self, "output", output)
        return output


class PictureConvolution(nn.Module):
    """A front end, layers of convolutions, and a norm: what an encoder is to its head."""

    def __init__(self, front: nn.Module, layers: Sequence[PictureConvolutionLayer], dim: int) -> None:
        super().__init__()
        self.front, self.layers, self.norm = front, nn.ModuleList(layers), nn.LayerNorm(dim)

    def forward(self, inputs: Tensor, *, keep: Tensor | None = None, **others: Tensor | None) -> Memory:
        """inputs: B C Y X floats. Returns states B T D. Masks, positions and types are a Transformer's alone."""
        given = [name for name, value in {"keep": keep, **others}.items() if value is not None]
        if given:
            raise ValueError(f"convolutions over pictures have no use for {', '.join(given)}; leave it out")
        x: Tensor = self.front(inputs).x
        side = math.isqrt(x.size(1))
        x = x.reshape(x.size(0), side, side, -1)
        for layer in self.layers:
            x = layer(x)
        states: Tensor = self.norm(x.flatten(1, 2))
        note(self, "output", states)
        return Memory(states, None)
