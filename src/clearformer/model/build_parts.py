"""The parts of a model from a configuration's words: attention, norms, front ends, position schemes, heads.

To add a norm, a position scheme, a front end or a head, add a line to a table here.
"""

import math
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.model import heads, positions
from clearformer.model.attention import Attention, Heads
from clearformer.model.config import ModelConfig, PositionConfig
from clearformer.model.frontends import PatchFrontend, SoundFrontend, TokenFrontend
from clearformer.model.layers import BatchNorm, FeedForward, GatedFeedForward, Residual, post_norm, pre_norm

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu-tanh": partial(F.gelu, approximate="tanh"),
    "silu": F.silu,
    "tanh": torch.tanh,
}
NORMS: dict[str, Callable[..., nn.Module]] = {"layer": nn.LayerNorm, "rms": nn.RMSNorm, "batch": BatchNorm}
RESIDUALS: dict[str, Callable[..., Residual]] = {"post": post_norm, "pre": pre_norm}


def attention(c: ModelConfig, position: positions.NoPosition | None = None) -> Attention:
    """Heads as configured; cross-attention has no position scheme: source and target positions are not comparable."""
    a = c.attention
    return Attention(
        c.dim,
        heads=Heads.of(c.dim, a.heads, kv_count=a.kv_heads, head_dim=a.head_dim),
        bias=a.bias,
        key_bias=a.key_bias,
        scale=a.scale,
        dropout=c.dropout.attention,
        position=position,
    )


def feed_forward(c: ModelConfig) -> nn.Module:
    """Plain or gated."""
    part = GatedFeedForward if c.gated else FeedForward
    return part(c.dim, c.hidden_dim, activation=ACTIVATIONS[c.activation], dropout=c.dropout.activation, bias=c.bias)


def norm(c: ModelConfig, dim: int | None = None) -> nn.Module:
    """One norm, of the model's width if no other is given."""
    return NORMS[c.norm.kind](dim or c.dim, eps=c.norm.eps)


def residual(c: ModelConfig) -> Callable[[], Residual]:
    """A factory of residuals with the norm in its place."""
    return partial(RESIDUALS[c.norm.place], partial(norm, c), c.dropout.residual)


def final_norm(c: ModelConfig) -> nn.Module | None:
    """Pre-norm stacks end in a sum that is not normalised yet; the configuration may decide otherwise."""
    wanted = c.norm.place == "pre" if c.norm.final is None else c.norm.final
    return norm(c) if wanted else None


def front(c: ModelConfig) -> nn.Module:
    """The front end that the configuration names."""
    return FRONTS[c.front.kind](c)


def fronts(c: ModelConfig) -> tuple[nn.Module, TokenFrontend]:
    """Source and target front ends, with one table for both if they are tied."""
    source = front(c)
    shared = source.embed if isinstance(source, TokenFrontend) and c.embedding.tie in ("all", "inputs") else None
    target = token_front(c, c.target_vocab_size or c.vocab_size, c.decoder_position or c.position, embed=shared)
    return source, target


def token_front(
    c: ModelConfig, vocab_size: int, position: PositionConfig, embed: nn.Embedding | None = None
) -> TokenFrontend:
    """A table of token vectors, shared with another front end if `embed` is given."""
    e, width = c.embedding, c.embedding.dim or c.dim
    return TokenFrontend(
        vocab_size if embed is None else embed,
        c.dim,
        embed_dim=e.dim,
        scale=math.sqrt(width) if e.scale else 1.0,
        position=embedded_position(position, c.max_len, width),
        types=e.types,
        norm=norm(c, width) if e.norm else None,
        dropout=c.dropout.embedding,
    )


def _patch_front(c: ModelConfig) -> PatchFrontend:
    count = (c.front.picture // c.front.patch) ** 2 + 1  # one more for the class token
    return PatchFrontend(
        c.dim,
        picture=c.front.picture,
        patch=c.front.patch,
        channels=c.front.channels,
        position=embedded_position(c.position, count, c.dim),
        dropout=c.dropout.embedding,
    )


def _sound_front(c: ModelConfig) -> SoundFrontend:
    return SoundFrontend(
        c.front.mels, c.dim, position=embedded_position(c.position, c.max_len, c.dim), dropout=c.dropout.embedding
    )


FRONTS: dict[str, Callable[[ModelConfig], nn.Module]] = {
    "tokens": lambda c: token_front(c, c.vocab_size, c.position),
    "patches": _patch_front,
    "sound": _sound_front,
}


def embedded_position(p: PositionConfig, max_len: int, width: int) -> positions.NoPosition | None:
    """The schemes that add a vector to the embeddings; the others act in the attention."""
    makers: dict[str, Callable[[], positions.NoPosition]] = {
        "sinusoidal": lambda: positions.Sinusoidal(width, p.base, offset=p.offset),
        "split-sinusoidal": lambda: positions.SplitSinusoidal(width, p.base, offset=p.offset),
        "tensor2tensor": lambda: positions.Tensor2TensorSinusoidal(width, p.base, offset=p.offset),
        "learned": lambda: positions.Learned(max_len, width, offset=p.offset),
    }
    return makers[p.kind]() if p.kind in makers else None


def score_position(
    c: ModelConfig, p: PositionConfig, *, bidirectional: bool
) -> Callable[[], positions.NoPosition | None]:
    """A factory of the schemes that act on queries, keys and scores.

    What has no parameters, or shares them as T5 does, is one object for the whole stack, so that it is computed once
    per pass; the others are one object per layer.
    """
    count = c.attention.heads
    width = c.attention.head_dim or c.dim // count
    shared: dict[str, Callable[[], positions.NoPosition]] = {
        "rotary": lambda: positions.Rotary(width, p.base, pairs=p.pairs, scaling=p.scaling, factor=p.factor),
        "alibi": lambda: positions.Alibi(count),
        "buckets": lambda: positions.Buckets(
            count, buckets=p.buckets, max_distance=p.max_distance, bidirectional=bidirectional
        ),
    }
    own: dict[str, Callable[[], positions.NoPosition]] = {
        "shaw": lambda: positions.Shaw(width, max_distance=p.max_distance),
        "relative": lambda: positions.Relative(c.dim, heads=count, head_dim=width),
    }
    if p.kind in shared:
        scheme = shared[p.kind]()
        return lambda: scheme
    return own.get(p.kind, lambda: None)


def language_model(c: ModelConfig, inputs: nn.Module) -> heads.LanguageModel:
    """Logits for every token, from the embedding's own table unless untied."""
    width = c.embedding.dim or c.dim
    tied = c.embedding.tie in ("all", "output")
    table = inputs.embed.weight if tied and isinstance(inputs, TokenFrontend) else None
    transform = None
    if c.head.transform:
        transform = nn.Sequential(nn.Linear(c.dim, width), _Apply(ACTIVATIONS[c.activation]), norm(c, width))
    return heads.LanguageModel(
        width,
        c.target_vocab_size or c.vocab_size,
        table=table,
        bias=c.head.bias,
        transform=transform,
        scale=1 / math.sqrt(c.dim) if c.head.shrink else 1.0,
    )


class _Apply(nn.Module):
    """A function as a module, for `nn.Sequential`."""

    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x)


HEADS: dict[str, Callable[[ModelConfig, nn.Module], nn.Module]] = {
    "language-model": language_model,
    "states": lambda c, _: heads.States(c.dim, pooler=c.head.pooler),
    "class": lambda c, _: heads.SequenceClass(
        c.dim,
        c.head.labels,
        pool=c.head.pool,
        pooler=c.head.pooler,
        activation=ACTIVATIONS[c.head.pooler_activation],
        bias=c.head.class_bias,
        dropout=c.head.dropout,
    ),
    "tags": lambda c, _: heads.TokenTags(c.dim, c.head.labels, dropout=c.head.dropout),
    "span": lambda c, _: heads.AnswerSpan(c.dim),
    "boxes": lambda c, _: heads.Boxes(c.dim, c.head.labels),
    "masks": lambda c, _: _pixels(c, c.head.labels),
    "pixels": lambda c, _: _pixels(c, c.front.channels),
}


def _pixels(c: ModelConfig, channels: int) -> heads.Pixels:
    return heads.Pixels(c.dim, channels=channels, picture=c.front.picture, patch=c.front.patch)
