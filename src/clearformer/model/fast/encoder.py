"""An encoder written for speed: the results of `Encoder.forward`, without computing on padding.

Sentences of a batch differ in length, and the readable path computes every layer for the padding too. Only attention
needs the rectangle; norms, projections and feed-forward work on every position alone and are given the real ones in
one row. `transformer.py` and `layers.py` define the model; a test compares every number.

N sentences, S slots, R real slots, D model width, H heads, K head width.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from clearformer.model import masks
from clearformer.model.attention import attend_fused
from clearformer.model.attention_context import Memory
from clearformer.model.fast.packed import (
    Affine,
    Around,
    FastFeedForward,
    Make,
    Product,
    function,
    is_plain,
    join,
    marks,
    part,
    queries,
    queries_keys_values,
)
from clearformer.model.fast.row_blocks import ROW_BLOCK, RealSlots
from clearformer.model.layers import EncoderLayer, FeedForward
from clearformer.model.transformer import Encoder


@dataclass(frozen=True)
class FastEncoderLayer:
    """One encoder layer."""

    around: Around
    qkv: Product
    out: Product
    ffn: FastFeedForward
    heads: int

    @classmethod
    def of(cls, layer: EncoderLayer, make: Make = Affine) -> "FastEncoderLayer":
        own = layer.self_attn
        return cls(
            around=Around.of(layer.self_attn_residual),
            qkv=make(*queries_keys_values(own)),
            out=make(*part(own.out_proj)),
            ffn=FastFeedForward.of(layer.ffn, layer.ffn_residual, make),
            heads=own.heads.count,
        )

    def __call__(self, x: Tensor, real: RealSlots, mask: Tensor | None) -> Tensor:
        """x: R D; mask: N 1 1 S, None where nothing is padding."""
        y = real.put(self.qkv(self.around.enter(x)))
        q, k, v = y.view(*y.shape[:2], 3, self.heads, -1).permute(2, 0, 3, 1, 4)  # N H S K
        gathered = attend_fused(q, k, v, mask=mask, scale=1.0)  # the scale is in the queries
        x = self.around.leave(x, self.out(real.take(gathered.transpose(1, 2).flatten(-2))))
        return self.ffn(x)


@dataclass(frozen=True)
class FastClosingLayer:
    """The last layer where nobody reads more than the first state: the others are keys and values, and no queries."""

    around: Around
    query: Product
    pair: Product
    out: Product
    ffn: FastFeedForward
    heads: int

    @classmethod
    def of(cls, layer: EncoderLayer, make: Make = Affine) -> "FastClosingLayer":
        own = layer.self_attn
        return cls(
            around=Around.of(layer.self_attn_residual),
            query=make(*queries(own)),
            pair=make(*join(part(own.k_proj), part(own.v_proj))),
            out=make(*part(own.out_proj)),
            ffn=FastFeedForward.of(layer.ffn, layer.ffn_residual, make),
            heads=own.heads.count,
        )

    def __call__(self, x: Tensor) -> Tensor:
        """x: N S D -> N D."""
        entered = self.around.enter(x)
        y = self.pair(entered)
        k, v = y.view(*y.shape[:2], 2, self.heads, -1).permute(2, 0, 3, 1, 4)  # N H S K
        q = self.query(entered[:, 0]).view(len(x), self.heads, 1, -1)
        gathered = attend_fused(q, k, v, scale=1.0)  # the scale is in the queries
        return self.ffn(self.around.leave(x[:, 0], self.out(gathered.flatten(1))))


class FastEncoder:
    """The encoder of a captured model. It holds copies of some weights: `stale` tells when they have changed.

    make: `Affine.of` packs the weights. That gains most where one text is read at a time. block: rows are computed in
    whole blocks of so many, so that a row's bits do not depend on the batch; 1 computes no row twice.
    """

    def __init__(self, encoder: Encoder, make: Make = Affine, block: int = ROW_BLOCK) -> None:
        self._block = block
        self._front, self._norm = encoder.front, function(encoder.norm)
        self._weights = list(encoder.parameters())
        self._marks = marks(self._weights)
        self._layers = [FastEncoderLayer.of(layer, make) for layer in encoder.layers]  # type: ignore[arg-type]
        self._closing = FastClosingLayer.of(encoder.layers[-1], make)  # type: ignore[arg-type]

    def stale(self) -> bool:
        """Whether the model's weights were replaced or changed since they were captured."""
        return self._marks != marks(self._weights)

    def first(self, inputs: Tensor) -> Tensor:
        """The first state of inputs without padding, such as pictures: N 1 D."""
        x, _, _ = self._front(inputs, None)
        real = RealSlots(torch.ones(x.shape[:2], dtype=torch.bool), block=1)
        rows = real.take(x)
        for layer in self._layers[:-1]:
            rows = layer(rows, real, None)
        state = self._closing(real.put(rows))
        return (state if self._norm is None else self._norm(state))[:, None]

    def read(self, tokens: Tensor, keep: Tensor | None, types: Tensor | None = None) -> Memory:
        """tokens: N S, keep: N S, True = real; types: N S, for models that have them; or pictures, all real."""
        x, keep, _ = self._front(tokens, keep, **({} if types is None else {"types": types}))
        every = torch.ones(x.shape[:2], dtype=torch.bool) if keep is None else keep
        real = RealSlots(every, self._block)
        whole = self._block == 1 and not real.padded  # with and without a mask the kernel differs in its last bits
        mask = None if whole else masks.padding(every)
        x = real.take(x)
        for layer in self._layers:
            x = layer(x, real, mask)
        return Memory(real.put(x if self._norm is None else self._norm(x)), keep)


def capture_encoder(encoder: nn.Module, make: Make = Affine, block: int = ROW_BLOCK) -> FastEncoder | None:
    """The fast version of this encoder, or None where only the readable path supports it."""
    known = isinstance(encoder, Encoder) and encoder.window is None and all(_known(layer) for layer in encoder.layers)
    return FastEncoder(encoder, make, block) if known else None  # type: ignore[arg-type]


def _known(layer: nn.Module) -> bool:
    return isinstance(layer, EncoderLayer) and isinstance(layer.ffn, FeedForward) and is_plain(layer.self_attn)
