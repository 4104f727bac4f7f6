"""A decoder-only model written for speed: the results of `DecoderOnly.forward` with a cache, in less time.

Writing a text is one small step after another, and each reads every weight once. The readable path spends a good part
of a step on modules, and its products repack the weights each time. Here the weights are rearranged and packed once,
or used in the fewer bits that they have, and the angles of rotary positions are computed once for all layers. The cache
is the readable path's own, so both can go on where the other stopped. `transformer.py` and `layers.py` define the
model; a test compares every number.

B batch, T new tokens, S all tokens, R = B · T rows, D model width, H heads, G key/value heads, K head width.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.model.attention import Attention, attend, attend_fused, merge
from clearformer.model.attention_context import position_ids
from clearformer.model.cache import DecoderCache
from clearformer.model.fast.kept import product, table_product
from clearformer.model.fast.packed import (
    Affine,
    Around,
    FastFeedForward,
    FastGatedFeedForward,
    Make,
    Product,
    function,
    marks,
    score_scale,
)
from clearformer.model.heads import LanguageModel
from clearformer.model.layers import DecoderLayer, FeedForward, GatedFeedForward
from clearformer.model.positions import NoPosition, Rotary
from clearformer.model.transformer import Decoder, DecoderOnly


@dataclass(frozen=True)
class FastCausalLayer:
    """One layer that attends to what stands before."""

    around: Around
    qkv: Product
    out: Product
    ffn: Callable[[Tensor], Tensor]

    @classmethod
    def of(cls, layer: DecoderLayer, make: Make) -> "FastCausalLayer":
        own: Any = layer.self_attn
        ffn: Any = layer.ffn
        around = Around.of(layer.ffn_residual)
        gated = isinstance(ffn, GatedFeedForward)
        up = product([ffn.gate_proj, ffn.up_proj] if gated else [ffn.up_proj], make)
        feed = FastGatedFeedForward if gated else FastFeedForward
        return cls(
            around=Around.of(layer.self_attn_residual),
            qkv=product([own.q_proj, own.k_proj, own.v_proj], make, scale=score_scale(own)),
            out=product([own.out_proj], make),
            ffn=feed(around, up, product([ffn.down_proj], make), ffn.activation),
        )


class FastCausal:
    """A captured decoder-only model. It holds copies of the weights: `stale` tells when they have changed."""

    def __init__(self, model: DecoderOnly, make: Make) -> None:
        decoder, head = model.decoder, model.head
        assert isinstance(head, LanguageModel)
        self._decoder = decoder
        self._weights = list(model.parameters())
        self._marks = marks(self._weights)
        self._layers = [FastCausalLayer.of(layer, make) for layer in decoder.layers]  # type: ignore[arg-type]
        self._norm = function(decoder.norm)
        # never rounded: the last product decides between tokens that are nearly as likely
        self._table = table_product(head.table.detach(), None if head.bias is None else head.bias.detach())
        self._to_table: Any = head.projection
        first: Attention = decoder.layers[0].self_attn  # type: ignore[assignment]
        self._heads, self._rotary = first.heads, first.position if isinstance(first.position, Rotary) else None

    def stale(self) -> bool:
        """Whether the model's weights were replaced or changed since they were captured."""
        return self._marks != marks(self._weights)

    def __call__(self, tokens: Tensor, *, cache: DecoderCache, keep: Tensor | None = None) -> Tensor:
        """tokens: B T; returns logits B T V."""
        states = self.states(tokens, cache=cache, keep=keep)
        said = self._table(self._to_table(states.flatten(0, 1))[0])
        return said.view(*tokens.shape, -1)

    def states(self, tokens: Tensor, *, cache: DecoderCache, keep: Tensor | None = None) -> Tensor:
        """The head's input, B T D: a prompt is read without asking what could follow each of its tokens."""
        batch, length = tokens.shape
        count, groups, width = self._heads.count, self._heads.kv_count, self._heads.key_dim
        positions = position_ids(tokens.shape, keep, cache.next_position(), device=tokens.device)
        embedded, keep, positions = self._decoder.front(tokens, keep, positions)
        keys, key_keep = cache.place(positions, keep)
        mask = self._decoder.look_back(positions, keys, positions, key_keep, None, window=self._decoder.window).mask
        turn = None if self._rotary is None else self._rotary.turn(positions)
        x = embedded.flatten(0, 1)
        for layer, kept in zip(self._layers, cache.self_attn, strict=True):
            y = layer.qkv(layer.around.enter(x)).view(batch, length, -1, width).transpose(1, 2)  # B H+2G T K
            looking = y[:, : count + groups]
            if self._rotary is not None and turn is not None:
                looking = self._rotary.rotate(looking, *turn)
            k, v = kept.append(looking[:, count:], y[:, count + groups :])
            gathered = _attend(looking[:, :count], k, v, mask)
            x = layer.ffn(layer.around.leave(x, layer.out(merge(gathered).flatten(0, 1))))
        return (x if self._norm is None else self._norm(x)).view(batch, length, -1)


def _attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """`attend` with scaled queries. One query a row goes with all of its group at once: no key is repeated.

    q: B H T K; k, v: B G S K; mask: broadcasts to B H T S; returns B H T K.
    """
    if q.size(2) > 1:
        return attend_fused(q, k, v, mask=mask, scale=1.0)
    batch, heads, _, width = q.shape
    scores = q.reshape(batch, k.size(1), -1, width) @ k.mT  # B G H/G S
    if mask is not None:
        scores.masked_fill_(~mask, torch.finfo(scores.dtype).min)
    return (scores.softmax(dim=-1) @ v).view(batch, heads, 1, width)


def capture_causal(model: nn.Module, make: Make = Affine.of) -> FastCausal | None:
    """The fast version of a decoder-only model, or None where only the readable path supports it.

    make: how the weights are kept, such as `Int8Affine.of`.
    """
    if not isinstance(model, DecoderOnly) or not isinstance(model.decoder, Decoder):
        return None
    if not isinstance(model.head, LanguageModel) or model.head.cap is not None or model.decoder.wide:
        return None
    layers = list(model.decoder.layers)
    schemes = [layer.self_attn.position for layer in layers]  # type: ignore[union-attr]
    turning = {id(scheme) for scheme in schemes if isinstance(scheme, Rotary)}
    one = not turning or (len(turning) == 1 and all(isinstance(scheme, Rotary) for scheme in schemes))
    known = all(_known(layer) for layer in layers) and one and bool(layers)
    return FastCausal(model, make) if known else None


def _known(layer: nn.Module) -> bool:
    if not isinstance(layer, DecoderLayer) or layer.cross_attn is not None:
        return False
    own = layer.self_attn
    return (
        isinstance(layer.ffn, FeedForward | GatedFeedForward)
        and type(own.position) in (NoPosition, Rotary)
        and own.kernel in (attend, attend_fused)
        and isinstance(own.q_norm, nn.Identity)
        and own.heads.key_dim == own.heads.value_dim
    )
