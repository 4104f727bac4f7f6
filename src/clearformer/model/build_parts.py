"""The parts of a model from a configuration's words: attention, norms, front ends, position schemes, heads.

To add a norm, a position scheme, a front end or a head, add a line to a table here.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.model import heads, positions
from clearformer.model.attention import Attention, Capped, Heads, Kernel, attend_fused
from clearformer.model.attention_pool import AttentionPool
from clearformer.model.cell_boxes import CellBoxes
from clearformer.model.config import ModelConfig, Pool, PositionConfig
from clearformer.model.disentangled import Disentangled, DistanceVectors
from clearformer.model.experts import Experts
from clearformer.model.frontends import (
    LeadingVectors,
    PatchFrontend,
    PictureFrontend,
    SoundFrontend,
    TokenFrontend,
    WidenedEmbedding,
)
from clearformer.model.layers import (
    BatchNorm,
    FeatureScale,
    FeedForward,
    GatedFeedForward,
    Residual,
    post_norm,
    pre_norm,
    quick_gelu,
    sandwich_norm,
    scaled_norm,
)
from clearformer.model.sample_frontend import EachNorm, FirstNorm, PlaceConvolution, SampleConvolution, SampleFrontend
from clearformer.model.stem import StemFrontend

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu-tanh": partial(F.gelu, approximate="tanh"),
    "quick-gelu": quick_gelu,
    "silu": F.silu,
    "tanh": torch.tanh,
}
NORMS: dict[str, Callable[..., nn.Module]] = {"layer": nn.LayerNorm, "rms": nn.RMSNorm, "batch": BatchNorm}
RESIDUALS: dict[str, Callable[..., Residual]] = {"post": post_norm, "pre": pre_norm, "sandwich": sandwich_norm}


def attention(c: ModelConfig, position: positions.NoPosition | None = None) -> Attention:
    """Heads as configured; cross-attention has no position scheme: source and target positions are not comparable."""
    a = c.attention
    kernel: Kernel = attend_fused if a.cap is None else Capped(a.cap)
    return Attention(
        c.dim,
        heads=Heads.of(c.dim, a.heads, kv_count=a.kv_heads, head_dim=a.head_dim),
        bias=a.bias,
        key_bias=a.key_bias,
        out_bias=a.out_bias,
        head_norm=partial(nn.RMSNorm, eps=c.norm.eps) if a.norm else None,
        scale=a.scale,
        dropout=c.dropout.attention,
        position=position,
        kernel=kernel,
    )


def feed_forward(c: ModelConfig) -> nn.Module:
    """Plain or gated; one, or many experts."""
    part = GatedFeedForward if c.gated else FeedForward

    def one() -> nn.Module:
        activation = ACTIVATIONS[c.activation]
        return part(c.dim, c.hidden_dim, activation=activation, dropout=c.dropout.activation, bias=c.bias)

    if c.experts is None:
        return one()
    return Experts(c.dim, [one() for _ in range(c.experts)], chosen=c.chosen, rescaled=c.rescaled)


def norm(c: ModelConfig, dim: int | None = None) -> nn.Module:
    """One norm, of the model's width if no other is given."""
    without = {} if c.norm.bias or c.norm.kind != "layer" else {"bias": False}
    return NORMS[c.norm.kind](dim or c.dim, eps=c.norm.eps, **without)


def residual(c: ModelConfig) -> Callable[[], Residual]:
    """A factory of residuals with the norm in its place."""
    if c.layer_scale is not None:
        return partial(scaled_norm, partial(norm, c), partial(FeatureScale, c.dim, c.layer_scale), c.dropout.residual)
    return partial(RESIDUALS[c.norm.place], partial(norm, c), c.dropout.residual)


def plain_residual(c: ModelConfig) -> Callable[[], Residual]:
    """A factory of residuals without a norm."""
    return partial(Residual, dropout=c.dropout.residual)


def final_norm(c: ModelConfig) -> nn.Module | None:
    """Pre-norm stacks end in a sum that is not normalised yet; the configuration may decide otherwise."""
    wanted = c.norm.place != "post" if c.norm.final is None else c.norm.final
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
    if e.early and e.dim is not None:
        e, width = replace(e, dim=None), c.dim
        embed = WidenedEmbedding(vocab_size, c.embedding.dim or c.dim, c.dim) if embed is None else embed
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


def _picture_front(c: ModelConfig) -> PictureFrontend:
    return STEMS[c.front.stem](c)(
        c.dim,
        picture=c.front.picture,
        patch=c.front.patch,
        channels=c.front.channels,
        before=LeadingVectors(c.front.class_token, c.front.teacher_token, c.front.registers),
        position=embedded_position(c.position, c.front.places, c.dim),
        norm=norm(c) if c.front.norm else None,
        dropout=c.dropout.embedding,
    )


STEMS: dict[str, Callable[[ModelConfig], Callable[..., PictureFrontend]]] = {
    "patches": lambda c: partial(PatchFrontend, bias=c.front.patch_bias),
    "convolution": lambda c: partial(StemFrontend, stem_layers=c.front.stem_layers),
}


def _sound_front(c: ModelConfig) -> SoundFrontend:
    return SoundFrontend(
        c.front.mels, c.dim, position=embedded_position(c.position, c.max_len, c.dim), dropout=c.dropout.embedding
    )


def _sample_front(c: ModelConfig) -> SampleFrontend:
    s = c.samples
    act, normed = ACTIVATIONS[s.activation], {"first": FirstNorm, "each": EachNorm}[s.norm]
    shapes = zip((1, *s.widths), s.widths, s.kernels, s.strides, strict=False)
    return SampleFrontend(
        [
            SampleConvolution(
                nn.Conv1d(before, after, kernel, stride, bias=s.bias),
                norm=normed(after) if number == 0 or s.norm == "each" else None,
                activation=act,
            )
            for number, (before, after, kernel, stride) in enumerate(shapes)
        ],
        c.dim,
        projected_norm=norm(c, s.widths[-1]) if s.projected_norm else None,
        places=PlaceConvolution(c.dim, kernel=s.place_kernel, groups=s.place_groups, activation=act),
        norm=norm(c) if c.front.norm else None,
        dropout=c.dropout.embedding,
    )


FRONTS: dict[str, Callable[[ModelConfig], nn.Module]] = {
    "tokens": lambda c: token_front(c, c.vocab_size, c.position),
    "patches": _picture_front,
    "sound": _sound_front,
    "samples": _sample_front,
}


def embedded_position(p: PositionConfig, max_len: int, width: int) -> positions.NoPosition | None:
    """The schemes that add a vector to the embeddings; the others act in the attention."""
    makers: dict[str, Callable[[], positions.NoPosition]] = {
        "sinusoidal": lambda: positions.Sinusoidal(width, p.base, offset=p.offset),
        "split-sinusoidal": lambda: positions.SplitSinusoidal(width, p.base, offset=p.offset),
        "tensor2tensor": lambda: positions.Tensor2TensorSinusoidal(width, p.base, offset=p.offset),
        "learned": lambda: positions.Learned(max_len, width, offset=p.offset),
        **({"disentangled": lambda: positions.Learned(max_len, width)} if p.added else {}),
    }
    return makers[p.kind]() if p.kind in makers else None


def layer_positions(
    c: ModelConfig, p: PositionConfig, *, bidirectional: bool
) -> Callable[[int], positions.NoPosition | None]:
    """From the number of a layer to the scheme that acts in its attention: some layers have another, or none."""
    usual = score_position(c, p, bidirectional=bidirectional)
    near = usual
    if p.kind == "rotary" and p.local_base is not None and c.attention.window is not None:
        unscaled = replace(p, base=p.local_base, scaling="none")
        near = score_position(c, unscaled, bidirectional=bidirectional)

    def scheme(layer: int) -> positions.NoPosition | None:
        if layer in p.absent:
            return None
        return usual() if layer in c.attention.wide else near()

    return scheme


def rotary(p: PositionConfig, width: int) -> positions.Rotary:
    """Rotary positions of heads of this width."""
    bend = None
    if p.scaling == "llama3":
        bend = positions.SlowWavesStretched(factor=p.factor, low=p.low, high=p.high, trained=p.trained)
    scaling = "none" if p.scaling == "llama3" else p.scaling
    turned = width if p.turned is None else p.turned
    return positions.Rotary(turned, p.base, pairs=p.pairs, scaling=scaling, factor=p.factor, bend=bend)


def score_position(
    c: ModelConfig, p: PositionConfig, *, bidirectional: bool
) -> Callable[[], positions.NoPosition | None]:
    """A factory of the schemes that act on queries, keys and scores.

    What has no parameters, or shares them as T5 does, is one object for the whole stack, so that it is computed once
    per pass; the others are one object per layer.
    """
    count = c.attention.heads
    width = c.attention.head_dim or c.dim // count
    buckets = partial(
        positions.Buckets, count, buckets=p.buckets, max_distance=p.max_distance, bidirectional=bidirectional
    )
    grid = partial(positions.Grid, count, side=c.front.picture // c.front.patch)
    shared: dict[str, Callable[[], positions.NoPosition]] = {
        "rotary": lambda: rotary(p, width),
        "alibi": lambda: positions.Alibi(count),
        "buckets": buckets,
        "grid": grid,
    }
    own: dict[str, Callable[[], positions.NoPosition]] = {
        "shaw": lambda: positions.Shaw(width, max_distance=p.max_distance),
        "relative": lambda: positions.Relative(c.dim, heads=count, head_dim=width),
        **({"buckets": buckets, "grid": grid} if p.each else {}),
    }
    if p.kind in shared and p.kind not in own:
        scheme = shared[p.kind]()
        return lambda: scheme
    if p.kind == "disentangled":
        return disentangled(c, p)
    return own.get(p.kind, lambda: None)


def disentangled(c: ModelConfig, p: PositionConfig) -> Callable[[], Disentangled]:
    """A factory of disentangled positions over one table: one object for all layers, unless each has projections."""
    width, count = c.attention.head_dim or c.dim // c.attention.heads, c.attention.heads
    named = norm(c) if p.normed else None
    vectors = DistanceVectors(c.dim, buckets=p.buckets, max_distance=p.max_distance, norm=named)

    def make() -> Disentangled:
        own = (nn.Linear(c.dim, count * width), nn.Linear(c.dim, count * width)) if p.projected else None
        rate = c.dropout.residual
        return Disentangled(vectors, head_dim=width, sides=p.sides, projections=own, dropout=rate)

    one = make()
    return make if p.projected else lambda: one


def language_model(c: ModelConfig, inputs: nn.Module) -> heads.LanguageModel:
    """Logits for every token, from the embedding's own table unless untied."""
    width = c.embedding.dim or c.dim
    tied = c.embedding.tie in ("all", "output")
    table = inputs.embed.weight if tied and isinstance(inputs, TokenFrontend) else None
    return heads.LanguageModel(
        width,
        c.target_vocab_size or c.vocab_size,
        table=table,
        bias=c.head.bias,
        transform=transform(c, width),
        scale=1 / math.sqrt(c.dim) if c.head.shrink else 1.0,
        cap=c.head.cap,
    )


def transform(c: ModelConfig, width: int | None = None) -> nn.Module | None:
    """BERT's dense layer, activation and norm before a head's last product, where the head has them."""
    if c.head.narrow and width is not None:
        return nn.Linear(c.dim, width, bias=False)
    if not c.head.transform:
        return None
    to = width or c.dim
    activation = ACTIVATIONS[c.head.transform_activation or c.activation]
    return nn.Sequential(nn.Linear(c.dim, to, bias=c.head.transform_bias), _Apply(activation), norm(c, to))


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
    "vector": lambda c, _: heads.Vector(_pooled_width(c), c.head.width, pool=_pool(c), bias=c.head.bias),
    "class": lambda c, _: _class(c),
    "tags": lambda c, _: heads.TokenTags(c.dim, c.head.labels, transform=transform(c), dropout=c.head.dropout),
    "span": lambda c, _: heads.AnswerSpan(c.dim, transform=transform(c)),
    "boxes": lambda c, _: _boxes(c),
    "masks": lambda c, _: _pixels(c, c.head.labels),
    "pixels": lambda c, _: _pixels(c, c.front.channels),
}


def _class(c: ModelConfig) -> nn.Module:
    """One classifier, or the mean of two where a token learned from a teacher."""
    if c.head.taught:
        return heads.TaughtClass(c.dim, c.head.labels, dropout=c.head.dropout)
    width = _pooled_width(c)
    return heads.SequenceClass(
        width,
        c.head.labels,
        pool=_pool(c),
        pooler=c.head.pooler,
        activation=ACTIVATIONS[c.head.pooler_activation],
        transform=norm(c, width) if c.head.pooled_norm else transform(c),
        bias=c.head.class_bias,
        dropout=c.head.dropout,
    )


def _pool(c: ModelConfig) -> Pool | nn.Module:
    """What makes one vector of all states: the name of a function in `heads`, or a part with sizes."""
    pool = c.head.pool
    if pool in heads.PATCH_POOLS:
        return heads.PATCH_POOLS[pool](c.front.leading)
    if pool == "end":
        return heads.EndState(c.head.end)
    if pool == "attention":
        return AttentionPool(c.dim, attn=attention(c), ffn=feed_forward(c), residual=pre_norm(partial(norm, c)))
    return pool


def _pooled_width(c: ModelConfig) -> int:
    return 2 * c.dim if c.head.pool == "first-and-patches" else c.dim


def _boxes(c: ModelConfig) -> nn.Module:
    """Said by learned queries, or by the patches themselves where there is no decoder."""
    if c.shape == "encoder-decoder" or c.front.kind != "patches":
        return heads.Boxes(c.dim, c.head.labels)
    side = c.front.picture // c.front.patch
    return CellBoxes(c.dim, c.head.labels, side=side, helper=c.head.helper, class_token=c.front.class_token)


def _pixels(c: ModelConfig, channels: int) -> heads.Pixels:
    front = c.front
    return heads.Pixels(
        c.dim, channels=channels, picture=front.picture, patch=front.patch, class_token=front.class_token
    )
