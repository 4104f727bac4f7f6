"""A decoder's step written out, for speed: the numbers of `Decoder.forward` with a cache, in a fraction of the time.

A translation is dozens of small steps, and the readable path spends more of each on modules, masks and copied caches
than on arithmetic. Here the weights of a built model are laid out once (queries, keys and values in one product, the
scale of the scores inside the query's weights) and a step is a straight row of kernels. Whatever decides what a model
*is* stands in `transformer.py` and `layers.py`; this file only follows, and a test holds every number against them.

`capture` knows decoders with absolute positions, plain heads and a plain feed-forward: the 2017 Transformer, Marian,
BART and what is like them, pre- or post-norm. Of anything else it says None.

R rows, D model width, H heads, K head width, V vocabulary; lanes: see `lanes.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.model.attention import Attention, attend, attend_fused
from clearformer.model.frontends import TokenFrontend
from clearformer.model.heads import LanguageModel
from clearformer.model.lanes import ROW_BLOCK, Lanes
from clearformer.model.layers import Activation, DecoderLayer, FeedForward, Residual
from clearformer.model.positions import NoPosition
from clearformer.model.transformer import Decoder, EncoderDecoder
from clearformer.model.view import Memory

Function = Callable[[Tensor], Tensor]
FIRST_ROOM = 64  # slots of a lane to begin with
LARGE = 200_000  # numbers in a weight that is worth packing; calling oneDNN takes a little longer than calling MKL


@dataclass(frozen=True)
class Affine:
    """A linear layer. Large weights are packed once as oneDNN reads them, where there is a oneDNN: MKL repacks them at
    every call, which for few rows takes as long as the product. A row's bits do not depend on the number of rows there.
    """

    weight: Tensor
    bias: Tensor | None
    packed: bool = False

    @classmethod
    def of(cls, weight: Tensor, bias: Tensor | None) -> "Affine":
        packed = _pack(weight)
        return cls(weight, bias) if packed is None else cls(packed, bias, packed=True)

    def __call__(self, x: Tensor) -> Tensor:
        if not self.packed:
            return F.linear(x, self.weight, self.bias)
        y: Tensor = torch.ops.mkldnn._linear_pointwise(x, self.weight, self.bias, "none", [], "")
        return y


@dataclass(frozen=True)
class Around:
    """A residual: what stands before the sublayer and after the sum, None for nothing."""

    before: Function | None
    after: Function | None

    def enter(self, x: Tensor) -> Tensor:
        return x if self.before is None else self.before(x)

    def leave(self, x: Tensor, y: Tensor) -> Tensor:
        total = y.add_(x)
        return total if self.after is None else self.after(total)


@dataclass(frozen=True)
class SwiftLayer:
    """One decoder layer as the step uses it."""

    around_self: Around
    qkv: Affine
    self_out: Affine
    around_cross: Around
    cross_q: Affine
    cross_kv: Affine
    cross_out: Affine
    around_ffn: Around
    up: Affine
    down: Affine
    activation: Activation

    @classmethod
    def of(cls, layer: DecoderLayer) -> "SwiftLayer":
        own, cross, ffn = layer.self_attn, layer.cross_attn, layer.ffn
        assert cross is not None
        assert layer.cross_attn_residual is not None
        assert isinstance(ffn, FeedForward)
        return cls(
            around_self=_around(layer.self_attn_residual),
            qkv=_join(_parts(own.q_proj, _scale(own)), _parts(own.k_proj), _parts(own.v_proj)),
            self_out=_join(_parts(own.out_proj)),
            around_cross=_around(layer.cross_attn_residual),
            cross_q=_join(_parts(cross.q_proj, _scale(cross))),
            cross_kv=_join(_parts(cross.k_proj), _parts(cross.v_proj)),
            cross_out=_join(_parts(cross.out_proj)),
            around_ffn=_around(layer.ffn_residual),
            up=_join(_parts(ffn.up_proj)),
            down=_join(_parts(ffn.down_proj)),
            activation=ffn.activation,
        )


class SwiftDecoder:
    """The decoder of a captured model. It holds copies of some weights: `stale` says when they have changed."""

    def __init__(self, model: EncoderDecoder) -> None:
        decoder = model.decoder
        assert isinstance(decoder, Decoder)
        self._model, self._decoder = model, decoder
        self._front: TokenFrontend = decoder.front  # type: ignore[assignment]
        self._weights = [*decoder.parameters(), *model.head.parameters()]
        self._marks = _marks(self._weights)
        self._layers = [SwiftLayer.of(layer) for layer in decoder.layers]  # type: ignore[arg-type]
        self._front_norm, self._norm = _function(self._front.norm), _function(decoder.norm)
        self._table = Affine.of(model.head.table.detach(), model.head.bias)  # type: ignore[arg-type, operator]
        self._to_table: Any = None if _plain_head(model.head) else model.head.projection
        self._heads: int = decoder.layers[0].self_attn.heads.count  # type: ignore[union-attr, assignment]
        self._places: dict[int, Tensor | None] = {}  # what the position scheme adds at each step

    def stale(self) -> bool:
        """Whether the model's weights are others, or have been written to, since they were captured."""
        return self._marks != _marks(self._weights)

    def start(self, memory: Memory) -> Lanes:
        """Project the sources for every layer, once. memory: N sentences."""
        count, slots, _ = memory.states.shape
        projected = torch.stack([self._split(layer.cross_kv(memory.states), 2) for layer in self._layers])
        bias = projected.new_zeros(count, 1, 1, slots)
        if memory.keep is not None:
            bias.masked_fill_(~memory.keep[:, None, None], torch.finfo(bias.dtype).min)
        layers, _, _, heads, _, width = projected.shape
        kept = projected.new_empty(layers, 2, count, heads, FIRST_ROOM, width)
        return Lanes(source=projected, source_bias=bias, kept=kept, count=count)

    def step(self, tokens: Tensor, lanes: Lanes) -> Tensor:
        """Feed one token to each of the R rows; returns their logits R V."""
        rows, n, w = lanes.rows, lanes.count, lanes.width
        x = self._embed(_whole_blocks(tokens), lanes.step)
        fresh, keys, values, bias = lanes.open()
        source_keys, source_values = lanes.source[:, :, :n].flatten(2, 3).unbind(1)
        source_bias = lanes.source_bias[:n]
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

            y = layer.activation(layer.up(layer.around_ffn.enter(x)))
            x = layer.around_ffn.leave(x, layer.down(y))
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
        """What the position scheme adds at this step, 1 D: worked out once, by whichever thread comes first."""
        if step not in self._places:
            place = self._front.position.embed(torch.tensor([step], device=x.device))
            self._places[step] = None if place is None else place.to(x.dtype)
        return self._places[step]

    def _split(self, x: Tensor, parts: int) -> Tensor:
        """Cut into keys and values, and into heads: N S (parts H K) -> parts N H S K."""
        return x.view(*x.shape[:2], parts, self._heads, -1).permute(2, 0, 3, 1, 4)


def capture(model: nn.Module) -> SwiftDecoder | None:
    """The decoder of this model written out, or None where only the readable path knows it."""
    if not isinstance(model, EncoderDecoder) or not isinstance(model.decoder, Decoder):
        return None
    front, layers = model.decoder.front, list(model.decoder.layers)
    plain_front = isinstance(front, TokenFrontend) and front.type_embed is None and isinstance(front.widen, nn.Identity)
    known = plain_front and model.decoder.window is None and all(_known(layer) for layer in layers)
    return SwiftDecoder(model) if known else None


def _known(layer: nn.Module) -> bool:
    return (
        isinstance(layer, DecoderLayer)
        and isinstance(layer.ffn, FeedForward)
        and layer.cross_attn is not None
        and all(_plain(attention) for attention in (layer.self_attn, layer.cross_attn))
    )


def _plain(attention: Attention) -> bool:
    """As many key heads as query heads, of one width, which look at nothing but their features."""
    heads = attention.heads
    return (
        type(attention.position) is NoPosition
        and attention.kernel in (attend, attend_fused)
        and heads.kv_count == heads.count
        and heads.key_dim == heads.value_dim
    )


def _attend(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, into: Tensor) -> None:
    """`attend` for the rows of each lane at once. q: N H W K, scaled; k, v: N·H S K; bias: N 1 W S; into: N H W K."""
    n, heads, w, _ = q.shape
    scores = torch.bmm(q.reshape(n * heads, w, -1), k.mT)
    if bias is not None:
        scores.view(n, heads, w, -1).add_(bias)
    into.copy_(torch.bmm(scores.softmax(dim=-1), v).view(n, heads, w, -1))


def _whole_blocks(tokens: Tensor) -> Tensor:
    missing = -len(tokens) % ROW_BLOCK
    if len(tokens) == 1:
        return tokens.expand(ROW_BLOCK)
    return tokens if missing == 0 else torch.cat((tokens, tokens[-1:].expand(missing)))


def _plain_head(head: nn.Module) -> bool:
    """Whether states go into the last product as they are."""
    return isinstance(head, LanguageModel) and isinstance(head.transform, nn.Identity) and head.scale == 1.0


def _parts(linear: nn.Linear, scale: float = 1.0) -> tuple[Tensor, Tensor | None]:
    """Weight and bias, times a scale."""
    weight, bias = linear.weight.detach(), None if linear.bias is None else linear.bias.detach()
    return (weight, bias) if scale == 1.0 else (weight * scale, None if bias is None else bias * scale)


def _scale(attention: Attention) -> float:
    """What the scores are multiplied by: here the query's projection is."""
    return attention.heads.key_dim**-0.5 if attention.scale is None else attention.scale


def _join(*parts: tuple[Tensor, Tensor | None]) -> Affine:
    """Projections of one input as one; a missing bias is a bias of zeros where others have one."""
    if len(parts) == 1:
        return Affine.of(*parts[0])
    weight = torch.cat([weight for weight, _ in parts])
    if all(bias is None for _, bias in parts):
        return Affine.of(weight, None)
    biases = [weight.new_zeros(len(weight)) if bias is None else bias for weight, bias in parts]
    return Affine.of(weight, torch.cat(biases))


def _pack(weight: Tensor) -> Tensor | None:
    """A large weight as oneDNN reads it; None where it is small or there is no oneDNN."""
    fitting = weight.device.type == "cpu" and weight.dtype == torch.float32 and weight.numel() >= LARGE
    if not fitting or not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return None
    if not hasattr(torch.ops.mkldnn, "_reorder_linear_weight"):  # meant for torch's own compiler, so it may go one day
        return None
    packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight)
    return packed


def _around(residual: Residual) -> Around:
    return Around(_function(residual.before), _function(residual.after))


def _function(module: nn.Module) -> Function | None:
    """A norm without the ceremony of calling a module; None for the identity."""
    if isinstance(module, nn.Identity):
        return None
    if type(module) is not nn.LayerNorm:
        return module
    shape = list(module.normalized_shape)
    return partial(torch.layer_norm, normalized_shape=shape, weight=module.weight, bias=module.bias, eps=module.eps)


def _marks(weights: list[nn.Parameter]) -> list[tuple[int, int]]:
    """Where each weight lies and how often it was written to."""
    return [(weight.data_ptr(), 0 if weight.is_inference() else weight._version) for weight in weights]
