"""The samples of a recording as vectors, without a spectrum: convolutions learn what to listen for (wav2vec 2.0).

B batch, N samples, T states, C channels, D model width. Every state is made of the samples that it reaches and of no
others; what the wide convolution reads beyond a recording's ends is zero. So a recording in a batch gives what it gives
alone, whatever fills it up.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.model.attention_context import check_keep, position_ids
from clearformer.model.dropout import Dropout
from clearformer.model.frontends import Embedded, add_place
from clearformer.model.trace import note

Activation = Callable[[Tensor], Tensor]
Length = TypeVar("Length", int, Tensor)


class FirstNorm(nn.Module):
    """Each channel of a recording brought to mean 0 and deviation 1 over all of its time, then scaled and shifted."""

    def __init__(self, channels: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))
        self.eps = eps

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        """x: B C T; keep: B T, what is real and counted."""
        real = torch.ones_like(x[:, :1]) if keep is None else keep[:, None].to(x.dtype)
        count = real.sum(dim=-1, keepdim=True).clamp(min=1)
        centred = x - (x * real).sum(dim=-1, keepdim=True) / count
        variance = (centred.square() * real).sum(dim=-1, keepdim=True) / count
        return centred * (variance + self.eps).rsqrt() * self.weight[:, None] + self.bias[:, None]


class EachNorm(nn.Module):
    """LayerNorm over the channels of each place. B C T, whatever is real."""

    def __init__(self, channels: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))
        self.eps = eps

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        return F.layer_norm(x.mT, self.weight.shape, self.weight, self.bias, self.eps).mT


class SampleConvolution(nn.Module):
    """One convolution of the stack, without padding: its norm, if it has one, and its activation."""

    def __init__(self, convolve: nn.Conv1d, *, norm: nn.Module | None, activation: Activation) -> None:
        super().__init__()
        self.convolve, self.norm, self.activation = convolve, norm, activation
        self.kernel, self.stride = convolve.kernel_size[0], convolve.stride[0]

    def count(self, length: Length) -> Length:
        """How many values are left of so many."""
        return (length - self.kernel) // self.stride + 1

    def forward(self, x: Tensor, keep: Tensor | None) -> Tensor:
        """x: B C T; keep: B T' of what comes out."""
        x = self.convolve(x)
        return self.activation(x if self.norm is None else self.norm(x, keep))


class PlaceConvolution(nn.Module):
    """Where a vector stands, told by its neighbours: one wide convolution in groups, after an activation.

    Its weights are a direction and a length for each place of the kernel (Salimans and Kingma, 2016).
    """

    def __init__(self, dim: int, *, kernel: int, groups: int, activation: Activation) -> None:
        super().__init__()
        self.direction = nn.Parameter(torch.empty(dim, dim // groups, kernel))
        nn.init.normal_(self.direction, std=2 * (kernel * dim) ** -0.5)
        self.length = nn.Parameter(torch.linalg.vector_norm(self.direction.detach(), dim=(0, 1), keepdim=True))
        self.bias = nn.Parameter(torch.zeros(dim))
        self.kernel, self.groups, self.activation = kernel, groups, activation

    def forward(self, x: Tensor) -> Tensor:
        """B T D -> B T D."""
        lengths = torch.linalg.vector_norm(self.direction, dim=(0, 1), keepdim=True)
        weight = self.direction * (self.length / lengths)
        before = self.kernel // 2
        around = F.pad(x.mT, (before, self.kernel - 1 - before))
        return self.activation(F.conv1d(around, weight.to(x.dtype), self.bias.to(x.dtype), groups=self.groups)).mT


class SampleFrontend(nn.Module):
    """Convolutions, a projection to the model's width, places, and a norm where the layers have theirs behind."""

    def __init__(
        self,
        convolutions: Sequence[SampleConvolution],
        dim: int,
        *,
        places: PlaceConvolution,
        projected_norm: nn.Module | None = None,
        norm: nn.Module | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(convolutions)
        self.projected_norm = projected_norm if projected_norm is not None else nn.Identity()
        self.project = nn.Linear(convolutions[-1].convolve.out_channels, dim)
        self.places = places
        self.norm = norm if norm is not None else nn.Identity()
        self.dropout = Dropout(dropout)

    def forward(self, samples: Tensor, keep: Tensor | None = None, positions: Tensor | None = None) -> Embedded:
        """samples: B N; keep: B N, padding on the right. Returns as many vectors as fit."""
        x, keep = self.listen(samples, keep)
        note(self, "heard", x)
        x = self.project(self.projected_norm(x))
        if keep is not None:  # the wide convolution would carry padding into the last real vectors
            x = x * keep[..., None]
        note(self, "embeddings", x)
        x = self.dropout(self.norm(add_place(self, x, self.places(x))))
        if positions is None:
            positions = position_ids(x.shape[:2], keep, device=x.device)
        note(self, "output", x)
        return Embedded(x, keep, positions)

    def listen(self, samples: Tensor, keep: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """What the convolutions hear, B T C, and which of it is real."""
        if samples.dim() != 2 or not samples.is_floating_point():
            raise ValueError(f"samples must be floats, batch × length, not {samples.dtype} of {tuple(samples.shape)}")
        x, count = samples[:, None], samples.size(1)
        lengths, there = None if keep is None else self._lengths(keep, samples.shape), None
        for layer in self.layers():
            count = layer.count(count)
            if lengths is not None:
                lengths = layer.count(lengths)
                there = torch.arange(max(0, count), device=x.device)[None] < lengths[:, None]
            if (count if lengths is None else int(lengths.min())) < 1:
                raise ValueError(
                    f"a recording of at most {samples.size(1)} samples is too short for one state; add silence"
                )
            x = layer(x, there)
        return x.mT, there

    def layers(self) -> list[SampleConvolution]:
        """The convolutions in their order."""
        return list(self.convolutions)  # type: ignore[arg-type]  # each is one

    @staticmethod
    def _lengths(keep: Tensor, shape: torch.Size) -> Tensor:
        check_keep(keep, shape)
        if bool((keep[:, 1:] & ~keep[:, :-1]).any()):
            raise ValueError("what fills up recordings stands behind them, not before or between; move it")
        return keep.sum(dim=1)
