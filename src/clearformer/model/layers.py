"""What a layer is made of besides attention: norms, feed-forward, the residual around each, and the two layers.

B batch, T length, D model width. Post-norm (2017) and pre-norm are the same layer with the norm in another slot.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.model.attention import Attention
from clearformer.model.attention_context import AttentionContext, Memory
from clearformer.model.cache import FixedCache, GrowingCache
from clearformer.model.dropout import Dropout
from clearformer.model.trace import note

Activation = Callable[[Tensor], Tensor]
Norm = Callable[[], nn.Module]


def quick_gelu(x: Tensor) -> Tensor:
    """x·σ(1.702·x): GELU's other approximation, by one sigmoid (Hendrycks and Gimpel, 2016; CLIP)."""
    return x * torch.sigmoid(1.702 * x)


class BatchNorm(nn.Module):
    """Normalise each feature over all tokens of the batch: what Transformers do *not* do, kept to show why.

    A token's output depends on the rest of the batch and on padding, and training differs from evaluation.
    """

    def __init__(self, dim: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(dim, eps=eps)

    def forward(self, x: Tensor) -> Tensor:
        normed: Tensor = self.norm(x.flatten(0, -2))
        return normed.view_as(x)


class FeedForward(nn.Module):
    """Two projections with a non-linearity between, at each position separately (Vaswani et al., 2017, eq. 2)."""

    def __init__(
        self, dim: int, hidden_dim: int, *, activation: Activation = F.relu, dropout: float = 0.0, bias: bool = True
    ) -> None:
        super().__init__()
        self.up_proj = nn.Linear(dim, hidden_dim, bias=bias)
        self.down_proj = nn.Linear(hidden_dim, dim, bias=bias)
        self.activation, self.dropout = activation, Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.activation(self.up_proj(x))
        note(self, "hidden", hidden)
        output: Tensor = self.down_proj(self.dropout(hidden))
        note(self, "output", output)
        return output


class GatedFeedForward(nn.Module):
    """Feed-forward with a second projection as a gate: SwiGLU with SiLU, GEGLU with GELU (Shazeer, 2020)."""

    def __init__(
        self, dim: int, hidden_dim: int, *, activation: Activation = F.silu, dropout: float = 0.0, bias: bool = False
    ) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(dim, hidden_dim, bias=bias)
        self.up_proj = nn.Linear(dim, hidden_dim, bias=bias)
        self.down_proj = nn.Linear(hidden_dim, dim, bias=bias)
        self.activation, self.dropout = activation, Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.activation(self.gate_proj(x)) * self.up_proj(x)
        note(self, "hidden", hidden)
        output: Tensor = self.down_proj(self.dropout(hidden))
        note(self, "output", output)
        return output


class Residual(nn.Module):
    """after(x + dropout(inside(sublayer(before(x))))): a norm stands in one or two of the slots, nothing elsewhere."""

    def __init__(
        self,
        *,
        before: nn.Module | None = None,
        inside: nn.Module | None = None,
        after: nn.Module | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.before = before if before is not None else nn.Identity()
        self.inside = inside if inside is not None else nn.Identity()
        self.after = after if after is not None else nn.Identity()
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        total = x + self.added(x, sublayer)
        note(self, "sum", total)
        after: Tensor = self.after(total)
        note(self, "after", after)
        return after

    def added(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """What the sublayer adds to its input."""
        before = self.before(x)
        note(self, "before", before)
        part: Tensor = self.dropout(self.inside(sublayer(before)))
        return part


def post_norm(norm: Norm, dropout: float = 0.0) -> Residual:
    """LayerNorm(x + Sublayer(x)): as in the 2017 paper; training needs a warm-up."""
    return Residual(after=norm(), dropout=dropout)


def pre_norm(norm: Norm, dropout: float = 0.0) -> Residual:
    """x + Sublayer(LayerNorm(x)): a straight path for the gradient; the stack needs one more norm at its end."""
    return Residual(before=norm(), dropout=dropout)


def sandwich_norm(norm: Norm, dropout: float = 0.0) -> Residual:
    """x + LayerNorm(Sublayer(LayerNorm(x))): what a part adds has a size of its own (Gemma 2)."""
    return Residual(before=norm(), inside=norm(), dropout=dropout)


def scaled_norm(norm: Norm, scale: Norm, dropout: float = 0.0) -> Residual:
    """x + scale · Sublayer(LayerNorm(x)): deep stacks begin with small steps (Touvron et al., 2021)."""
    return Residual(before=norm(), inside=scale(), dropout=dropout)


class FeatureScale(nn.Module):
    """Multiply each feature by a trained number; all of them begin at `start`."""

    def __init__(self, dim: int, start: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((dim,), start))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each in its residual."""

    def __init__(
        self,
        *,
        self_attn: Attention,
        ffn: nn.Module,
        residual: Callable[[], Residual],
        attn_residual: Callable[[], Residual] | None = None,
    ) -> None:
        """attn_residual: the one around attention, where it is another than that around the feed-forward part."""
        super().__init__()
        self.self_attn, self.self_attn_residual = self_attn, (attn_residual or residual)()
        self.ffn, self.ffn_residual = ffn, residual()

    def forward(self, x: Tensor, context: AttentionContext) -> Tensor:
        """x: B T D; returns B T D."""
        x = self.self_attn_residual(x, lambda y: self.self_attn(y, context))
        x = self.ffn_residual(x, self.ffn)
        note(self, "output", x)
        return x


class DecoderLayer(nn.Module):
    """Masked self-attention, attention to the encoder's memory if there is one, then feed-forward."""

    def __init__(
        self,
        *,
        self_attn: Attention,
        ffn: nn.Module,
        residual: Callable[[], Residual],
        cross_attn: Attention | None = None,
    ) -> None:
        super().__init__()
        self.self_attn, self.self_attn_residual = self_attn, residual()
        self.cross_attn = cross_attn
        self.cross_attn_residual = None if cross_attn is None else residual()
        self.ffn, self.ffn_residual = ffn, residual()

    def forward(
        self,
        x: Tensor,
        context: AttentionContext,
        *,
        memory: Memory | None = None,
        memory_context: AttentionContext | None = None,
        caches: tuple[GrowingCache, FixedCache] | None = None,
        past: Tensor | None = None,
    ) -> Tensor:
        """x: B T D; memory: the encoder's output; past: B P D, states of the previous segment. Returns B T D."""
        self_cache, cross_cache = caches if caches is not None else (None, None)

        def look_back(y: Tensor) -> Tensor:
            source = None if past is None else torch.cat((self.self_attn_residual.before(past), y), dim=1)
            return self.self_attn(y, context, source=source, cache=self_cache)  # type: ignore[no-any-return]

        x = self.self_attn_residual(x, look_back)
        if self.cross_attn is not None and self.cross_attn_residual is not None:
            if memory is None or memory_context is None:
                raise ValueError("this decoder attends to an encoder's output, but none was given; pass memory")
            cross_attn, states = self.cross_attn, memory.states
            x = self.cross_attn_residual(x, lambda y: cross_attn(y, memory_context, source=states, cache=cross_cache))
        x = self.ffn_residual(x, self.ffn)
        note(self, "output", x)
        return x


class ParallelDecoderLayer(nn.Module):
    """Masked self-attention and feed-forward of the same input, both added to it (Wang and Komatsuzaki, 2021)."""

    def __init__(self, *, self_attn: Attention, ffn: nn.Module, residual: Callable[[], Residual]) -> None:
        super().__init__()
        self.self_attn, self.self_attn_residual = self_attn, residual()
        self.ffn, self.ffn_residual = ffn, residual()

    def forward(
        self,
        x: Tensor,
        context: AttentionContext,
        *,
        memory: Memory | None = None,
        memory_context: AttentionContext | None = None,
        caches: tuple[GrowingCache, FixedCache] | None = None,
        past: Tensor | None = None,
    ) -> Tensor:
        """x: B T D. Returns B T D."""
        if memory is not None or past is not None:
            raise ValueError("a layer with parallel parts reads its own tokens alone; leave memory and past out")
        cache = None if caches is None else caches[0]
        attended = self.self_attn_residual.added(x, lambda y: self.self_attn(y, context, cache=cache))
        output = x + attended + self.ffn_residual.added(x, self.ffn)
        note(self, "output", output)
        return output
