"""A decoder's step written for speed: the results of `Decoder.forward` with a cache, in a fraction of the time.

A translation is dozens of small steps, and the readable path spends more of each on modules, masks and copied caches
than on arithmetic. Here the weights of a built model are rearranged once (queries, keys and values in one product, the
scale of the scores inside the query's weights), and a step is a plain sequence of kernels. `transformer.py` and
`layers.py` define the model; this file follows them, and a test compares every number.

`capture_decoder` knows absolute positions, plain heads and a plain feed-forward: the 2017 Transformer, Marian,
BART and similar models, pre- or post-norm. For anything else, such as a head that copies, it returns None.

R rows, D model width, H heads, K head width, V vocabulary; groups: see `beam_cache.py`.
"""

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.model.attention_context import Memory
from clearformer.model.fast.beam_cache import BeamCache
from clearformer.model.fast.packed import (
    Affine,
    Around,
    FastFeedForward,
    function,
    is_plain,
    join,
    marks,
    part,
    queries,
    queries_keys_values,
)
from clearformer.model.fast.row_blocks import RealSlots, fill_block
from clearformer.model.frontends import TokenFrontend
from clearformer.model.heads import LanguageModel
from clearformer.model.layers import DecoderLayer, FeedForward
from clearformer.model.transformer import Decoder, EncoderDecoder

FIRST_ROOM = 64  # slots of a group at the start


@dataclass(frozen=True)
class FastDecoderLayer:
    """One decoder layer as the step uses it."""

    around_self: Around
    qkv: Affine
    self_out: Affine
    around_cross: Around
    cross_q: Affine
    cross_kv: Affine
    cross_out: Affine
    ffn: FastFeedForward

    @classmethod
    def of(cls, layer: DecoderLayer) -> "FastDecoderLayer":
        own, cross = layer.self_attn, layer.cross_attn
        assert cross is not None
        assert layer.cross_attn_residual is not None
        return cls(
            around_self=Around.of(layer.self_attn_residual),
            qkv=Affine.of(*queries_keys_values(own)),
            self_out=Affine.of(*part(own.out_proj)),
            around_cross=Around.of(layer.cross_attn_residual),
            cross_q=Affine.of(*queries(cross)),
            cross_kv=Affine(*join(part(cross.k_proj), part(cross.v_proj))),  # for all of the source at once
            cross_out=Affine.of(*part(cross.out_proj)),
            ffn=FastFeedForward.of(layer.ffn, layer.ffn_residual, Affine.of),
        )


class FastDecoder:
    """The decoder of a captured model. It holds copies of some weights: `stale` tells when they have changed."""

    def __init__(self, model: EncoderDecoder) -> None:
        decoder = model.decoder
        assert isinstance(decoder, Decoder)
        self._model, self._decoder = model, decoder
        self._front: TokenFrontend = decoder.front  # type: ignore[assignment]
        self._weights = [*decoder.parameters(), *model.head.parameters()]
        self._marks = marks(self._weights)
        self._layers = [FastDecoderLayer.of(layer) for layer in decoder.layers]  # type: ignore[arg-type]
        self._front_norm, self._norm = function(self._front.norm), function(decoder.norm)
        self._table = Affine.of(model.head.table.detach(), model.head.bias)  # type: ignore[arg-type, operator]
        self._to_table: Any = None if _plain_head(model.head) else model.head.projection
        self._heads: int = decoder.layers[0].self_attn.heads.count  # type: ignore[union-attr, assignment]
        self._places: dict[int, Tensor | None] = {}  # what the position scheme adds at each step

    def stale(self) -> bool:
        """Whether the model's weights were replaced or changed since they were captured."""
        return self._marks != marks(self._weights)

    def start(self, memory: Memory) -> BeamCache:
        """Project the sources for every layer, once. memory: N sentences."""
        count, slots, _ = memory.states.shape
        keep = memory.keep if memory.keep is not None else memory.states.new_ones(count, slots, dtype=torch.bool)
        real = RealSlots(keep)
        states = real.take(memory.states)
        projected = torch.stack([self._split(real.put(layer.cross_kv(states)), 2) for layer in self._layers])
        bias = projected.new_zeros(count, 1, 1, slots)
        bias.masked_fill_(~keep[:, None, None], torch.finfo(bias.dtype).min)
        layers, _, _, heads, _, width = projected.shape
        kept = projected.new_empty(layers, 2, count, heads, FIRST_ROOM, width)
        return BeamCache(source=projected, source_bias=bias, kept=kept, count=count)

    def step(self, tokens: Tensor, cache: BeamCache) -> Tensor:
        """Feed one token to each of the R rows; returns their logits R V."""
        rows, n, w = cache.rows, cache.count, cache.width
        x = self._embed(fill_block(tokens), cache.step)
        fresh, keys, values, bias = cache.open()
        source_keys, source_values = cache.source[:, :, :n].flatten(2, 3).unbind(1)
        source_bias = cache.source_bias[:n]
        gathered = x.new_zeros(x.size(0), self._heads * fresh.size(-1))  # the rows that fill a block stay zero
        into = gathered[:rows].view(n, w, self._heads, -1).transpose(1, 2)  # N H W K
        parts = zip(self._layers, fresh, keys, values, source_keys, source_values, strict=True)
        for layer, new, k, v, source_k, source_v in parts:
            y = layer.qkv(layer.around_self.enter(x))
            qkv = y[:rows].view(n, w, 3, self._heads, -1).permute(2, 0, 3, 1, 4)  # 3 N H W K
            new.copy_(qkv[1:])
            _attend(qkv[0], k, v, bias, into)
            x = layer.around_self.leave(x, layer.self_out(gathered))

            y = layer.cross_q(layer.around_cross.enter(x))
            q = y[:rows].view(n, w, self._heads, -1).transpose(1, 2)
            _attend(q, source_k, source_v, source_bias, into)
            x = layer.around_cross.leave(x, layer.cross_out(gathered))
            x = layer.ffn(x)
        if self._norm is not None:
            x = self._norm(x)
        x = x[:rows] if self._table.packed else x
        return self._table(x if self._to_table is None else self._to_table(x)[0])[:rows]

    def _embed(self, tokens: Tensor, step: int) -> Tensor:
        """What the front end makes of a token at this step: R D."""
        x = F.embedding(tokens, self._front.embed.weight)
        place = self._place(step, x)
        x = x.mul_(self._front.scale) if place is None else torch.add(place, x, alpha=self._front.scale)
        return x if self._front_norm is None else self._front_norm(x)

    def _place(self, step: int, x: Tensor) -> Tensor | None:
        """What the position scheme adds at this step, 1 D: computed once, by the first thread that needs it."""
        if step not in self._places:
            place = self._front.position.embed(torch.tensor([step], device=x.device))
            self._places[step] = None if place is None else place.to(x.dtype)
        return self._places[step]

    def _split(self, x: Tensor, parts: int) -> Tensor:
        """Cut into keys and values, and into heads: N S (parts H K) -> parts N H S K."""
        return x.view(*x.shape[:2], parts, self._heads, -1).permute(2, 0, 3, 1, 4)


def capture_decoder(model: nn.Module) -> FastDecoder | None:
    """The fast decoder of this model, or None where only the readable path supports it."""
    if not isinstance(model, EncoderDecoder) or not isinstance(model.decoder, Decoder) or model.copies:
        return None
    front, layers = model.decoder.front, list(model.decoder.layers)
    plain_front = isinstance(front, TokenFrontend) and front.type_embed is None and isinstance(front.widen, nn.Identity)
    plain_front = plain_front and type(front.embed) is nn.Embedding
    whole = model.decoder.window is None and isinstance(model.head, LanguageModel) and model.head.cap is None
    known = plain_front and whole and all(_known(layer) for layer in layers)
    return FastDecoder(model) if known else None


def _known(layer: nn.Module) -> bool:
    return (
        isinstance(layer, DecoderLayer)
        and isinstance(layer.ffn, FeedForward)
        and layer.cross_attn is not None
        and all(is_plain(attention) for attention in (layer.self_attn, layer.cross_attn))
    )


def _attend(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, into: Tensor) -> None:
    """`attend` for the rows of each group at once. q: N H W K, scaled; k, v: N·H S K; bias: N 1 W S; into: N H W K."""
    n, heads, w, _ = q.shape
    scores = torch.bmm(q.reshape(n * heads, w, -1), k.mT)
    if bias is not None:
        scores.view(n, heads, w, -1).add_(bias)
    into.copy_(torch.bmm(scores.softmax(dim=-1), v).view(n, heads, w, -1))


def _plain_head(head: nn.Module) -> bool:
    """Whether states go into the last product as they are."""
    return isinstance(head, LanguageModel) and isinstance(head.transform, nn.Identity) and head.scale == 1.0
