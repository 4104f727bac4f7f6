"""A stack that is told something besides its input: a class, and how much of a picture is noise.

What it is told shifts and scales the norms of every layer and opens its residuals (adaptive norms; Perez et al., 2018;
Peebles and Xie, 2023), so the same stack denoises pictures, fills in hidden patch codes, or writes them from left to
right. B batch, T length, D model width, C classes.
"""

import math
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.model import masks
from clearformer.model.attention import Attention
from clearformer.model.attention_context import AttentionContext, Memory
from clearformer.model.dropout import Dropout
from clearformer.model.layers import EncoderLayer
from clearformer.model.trace import note

SLOWEST = 1000.0  # a time between 0 and 1 is shown by waves from one turn to so many
LAYER_PARTS, END_PARTS = 6, 2  # shift, scale and gate of two residuals; shift and scale of the last norm


class Told(nn.Module):
    """What a picture is of, and how much of it is there, as one vector.

    The class behind the last one stands for "any": a model that has learned without classes, too, can be guided by the
    difference (Ho and Salimans, 2022). times: whether there is a time, from 0 (noise) to 1 (picture).
    """

    def __init__(self, dim: int, classes: int, *, times: bool) -> None:
        super().__init__()
        self.classes, self.dim = classes, dim
        self.embed = nn.Embedding(classes + 1, dim)
        self.time_proj = nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, dim)) if times else None

    def forward(self, count: int, classes: Tensor | None, times: Tensor | None) -> Tensor:
        """count: B. classes: B, "any" if not given; times: B, 0 if not given. Returns B D."""
        device = self.embed.weight.device
        if classes is None:
            classes = torch.full((count,), self.classes, device=device)
        vectors: Tensor = self.embed(classes)
        if self.time_proj is None:
            return vectors
        given = torch.zeros(count, device=device) if times is None else times
        shown: Tensor = self.time_proj(waves(given, self.dim))
        return vectors + shown


def waves(times: Tensor, dim: int) -> Tensor:
    """Sines and cosines of a time between 0 and 1. B -> B D."""
    half = (dim + 1) // 2
    turns = torch.exp(math.log(SLOWEST) * torch.arange(half, device=times.device) / max(1, half - 1))
    angles = times[:, None].float() * turns
    return torch.cat((angles.sin(), angles.cos()), dim=-1)[:, :dim]


class AdaptiveResidual(nn.Module):
    """x + gate · sublayer(norm(x) · (1 + scale) + shift). The gate begins at zero, so a fresh layer changes nothing."""

    def __init__(self, norm: nn.Module, dim: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.before, self.dropout = norm, Dropout(dropout)
        self.offsets = nn.Parameter(torch.zeros(3, dim))  # what this layer adds to what all layers are told

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor], told: Tensor) -> Tensor:
        """x: B T D; told: B 3 D, shift, scale and gate."""
        shift, scale, gate = (told + self.offsets)[:, :, None].unbind(dim=1)  # B 1 D each
        before = self.before(x) * (1 + scale) + shift
        note(self, "before", before)
        after: Tensor = x + gate * self.dropout(sublayer(before))
        note(self, "after", after)
        return after


class ConditionedLayer(EncoderLayer):
    """Self-attention, then feed-forward, each in an adaptive residual."""

    def __init__(self, *, self_attn: Attention, ffn: nn.Module, residual: Callable[[], AdaptiveResidual]) -> None:
        super().__init__(self_attn=self_attn, ffn=ffn, residual=residual)  # type: ignore[arg-type]

    def forward(self, x: Tensor, context: AttentionContext, told: Tensor | None = None) -> Tensor:
        """x: B T D; told: B 6 D."""
        told = x.new_zeros(x.size(0), LAYER_PARTS, x.size(2)) if told is None else told
        x = self.self_attn_residual(x, lambda y: self.self_attn(y, context), told[:, :3])
        x = self.ffn_residual(x, self.ffn, told[:, 3:])
        note(self, "output", x)
        return x


class ConditionedEncoder(nn.Module):
    """A front end and layers that are told something. causal: a place sees only those before it."""

    def __init__(
        self, front: nn.Module, layers: Sequence[ConditionedLayer], norm: nn.Module, told: Told, *, causal: bool
    ) -> None:
        super().__init__()
        self.front, self.told = front, told
        self.layers = nn.ModuleList(layers)
        self.norm, self.causal = norm, causal
        self.modulate = nn.Linear(told.dim, (LAYER_PARTS + END_PARTS) * told.dim)

    def forward(self, inputs: Tensor, *, classes: Tensor | None = None, times: Tensor | None = None) -> Memory:
        """inputs: what the front end takes. classes, times: B."""
        x, _, positions = self.front(inputs)
        vectors = self.told(x.size(0), classes, times)
        told = self.modulate(F.silu(vectors)).unflatten(-1, (LAYER_PARTS + END_PARTS, -1))  # B 8 D
        note(self, "told", told)
        mask = masks.causal(x.size(1), x.size(1), device=x.device) if self.causal else None
        context = AttentionContext(positions, positions, mask=mask)
        for layer in self.layers:
            x = layer(x, context, told[:, :LAYER_PARTS])
        shift, scale = told[:, LAYER_PARTS:, None].unbind(dim=1)
        x = self.norm(x) * (1 + scale) + shift
        note(self, "output", x)
        return Memory(x)


class ConditionedModel(nn.Module):
    """Draws what it is told: a clean picture from a noisy one, or a score for every code at every place."""

    def __init__(self, encoder: ConditionedEncoder, head: nn.Module) -> None:
        super().__init__()
        self.encoder, self.head = encoder, head

    def forward(self, inputs: Tensor, classes: Tensor | None = None, times: Tensor | None = None) -> Tensor:
        """inputs: pictures B C Y X, or codes B T; returns pictures, or logits B T V."""
        memory = self.encoder(inputs, classes=classes, times=times)
        output: Tensor = self.head(memory.states, None)
        note(self, "logits", output)
        return output
