"""What each part of a model adds to a logit: direct logit attribution (Elhage et al., 2021).

    writer = cf.load("gpt2")
    parts = logit_parts(writer.model, writer.encode("The capital of France is"), writer.encode(" Paris")[-1])
    parts.heads, parts.feed_forwards, parts.total                           # L H, L, and their sum: the logit

L layers, H heads, D model width, K value width. In a pre-norm model the last state is a sum: the embedding, what each
head adds through its slice of the output matrix, what each feed-forward adds. The final norm divides all of it by one
number; with that number as it is, a logit is a sum of the same parts. Parts that act through later ones are counted
there: this is what each adds directly.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.inference.logit_lens import FRONT, LOGITS, check_close, check_decoder, run_traced
from clearformer.model.layers import BatchNorm, Residual

POSITIONS = "decoder.front.positions"


@dataclass(frozen=True, kw_only=True)
class LogitParts:
    """Numbers that add up to a logit, or to the difference of two.

    heads: L H; attention_biases, feed_forwards: L, the first being the output matrices' biases. position: of what is
    added to the embedding; None where positions act elsewhere. constant: the final norm's shift and the head's bias.
    logit: the model's own number.
    """

    logit: float
    embedding: float
    position: float | None
    heads: Tensor
    attention_biases: Tensor
    feed_forwards: Tensor
    constant: float

    @property
    def total(self) -> float:
        """What the parts add up to."""
        layers = self.heads.sum() + self.attention_biases.sum() + self.feed_forwards.sum()
        return self.embedding + (self.position or 0.0) + float(layers) + self.constant


def why_no_sum(model: Any) -> str | None:
    """Why a model's logits are no sum of parts, in one sentence; None if they are."""
    check_decoder(model)
    if any(isinstance(part, Residual) and not isinstance(part.after, nn.Identity) for part in model.modules()):
        return "this model normalises after each part (post-norm), so that its logits are no sum of parts"
    if not isinstance(model.head.transform, nn.Identity):
        return "this model's head has a layer of its own before the vocabulary, so that its logits are no sum of parts"
    return None


def part_names(model: Any) -> list[str]:
    """The values of a pass that the sum needs."""
    layers = [f"decoder.layers.{index}" for index in range(len(model.decoder.layers))]
    added = [f"{layer}.{value}" for layer in layers for value in ("self_attn.heads", "ffn.output")]
    return [FRONT, POSITIONS, *added, f"{layers[-1]}.output", LOGITS]


def logit_parts(
    model: nn.Module, ids: Sequence[int], token: int, *, against: int | None = None, position: int = -1
) -> LogitParts:
    """Run a text and divide the logit that `token` has after one of its tokens. against: a token whose logit is taken
    away, so that only what tells the two apart counts."""
    if reason := why_no_sum(model):
        raise ValueError(reason)
    return parts_of(model, run_traced(model, ids, part_names(model)), token, against=against, position=position)


@torch.no_grad()
def parts_of(
    model: Any, values: Mapping[str, Tensor], token: int, *, against: int | None = None, position: int = -1
) -> LogitParts:
    """The same from recorded values, which have no batch dimension."""
    own = values[LOGITS][position]
    signs = _signs(token, against, len(own))
    direction, bias = _direction(model.head, signs)
    state = values[f"decoder.layers.{len(model.decoder.layers) - 1}.output"][position]
    linear, shift = _frozen(model.decoder.norm, state.double())
    front, *layers = (linear(added) @ direction for added in _added(model, values, position))
    by_layer = torch.stack(layers)  # L (H + 2)
    found = LogitParts(
        logit=sum(sign * float(own[number]) for number, sign in signs.items()),
        embedding=float(front[0]),
        position=float(front[1]) if len(front) > 1 else None,
        heads=by_layer[:, :-2],
        attention_biases=by_layer[:, -2],
        feed_forwards=by_layer[:, -1],
        constant=float(shift @ direction) + bias,
    )
    size = float(front.abs().sum() + by_layer.abs().sum())
    check_close(torch.tensor(found.total), torch.tensor(found.logit), "the sums of the parts", size)
    return found


def _signs(token: int, against: int | None, size: int) -> dict[int, float]:
    """Which logits count, and how. A token against itself leaves nothing."""
    wanted = [token] if against is None else [token, against]
    for number in wanted:
        if not 0 <= number < size:
            raise ValueError(f"token {number} is outside the vocabulary of {size} (0 to {size - 1})")
    return {} if token == against else dict(zip(wanted, (1.0, -1.0), strict=False))


def _direction(head: Any, signs: Mapping[int, float]) -> tuple[Tensor, float]:
    """What the normalised last state is multiplied by, D, and what is added."""
    direction = head.table.new_zeros(head.table.size(-1), dtype=torch.float64)
    bias = 0.0
    for number, sign in signs.items():
        direction += sign * head.scale * head.table[number].double()
        bias += 0.0 if head.bias is None else sign * float(head.bias[number])
    return direction, bias


def _added(model: Any, values: Mapping[str, Tensor], position: int) -> Iterator[Tensor]:
    """The vectors that add up to the last state: first of the front end (1 or 2 D), then of each layer (H + 2 D)."""
    yield _front(model.decoder.front, values, position)
    for index, layer in enumerate(model.decoder.layers):
        name = f"decoder.layers.{index}"
        heads = _heads(layer.self_attn, values[f"{name}.self_attn.heads"][:, position])
        yield torch.cat((heads, values[f"{name}.ffn.output"][None, position].double()))


def _front(front: Any, values: Mapping[str, Tensor], position: int) -> Tensor:
    """The embedding, and apart from it what was added for the position, unless a norm or a layer mixed the two."""
    output, place = values[FRONT][position].double(), values.get(POSITIONS)
    mixed = not (isinstance(front.norm, nn.Identity) and isinstance(front.widen, nn.Identity))
    if place is None or mixed:
        return output[None]
    added = place[position].double()
    return torch.stack((output - added, added))


def _heads(attention: Any, gathered: Tensor) -> Tensor:
    """What each head alone adds through the output projection, and last its bias. gathered: H K; returns (H + 1) D."""
    count, width = gathered.shape
    alone = gathered.new_zeros(count + 1, count, width)
    alone[range(count), range(count)] = gathered
    added = attention.out_proj(alone.flatten(1)).double()
    bias = added[-1:]
    return torch.cat((added[:-1] - bias, bias))


def _frozen(norm: nn.Module, state: Tensor) -> tuple[Callable[[Tensor], Tensor], Tensor]:
    """A norm as it treats one state, with its scale held: a linear map, and what it adds. state: D."""
    nothing = torch.zeros_like(state)
    if isinstance(norm, nn.Identity):
        return lambda parts: parts, nothing
    if isinstance(norm, nn.LayerNorm):
        factor = _doubled(norm.weight, 1.0) / (state.var(unbiased=False) + norm.eps).sqrt()
        return lambda parts: (parts - parts.mean(dim=-1, keepdim=True)) * factor, nothing + _doubled(norm.bias, 0.0)
    if isinstance(norm, nn.RMSNorm):
        eps = torch.finfo(torch.float32).eps if norm.eps is None else norm.eps
        factor = _doubled(norm.weight, 1.0) / (state.square().mean() + eps).sqrt()
        return lambda parts: parts * factor, nothing
    if isinstance(norm, BatchNorm):
        inner = norm.norm
        factor = _doubled(inner.weight, 1.0) / (_doubled(inner.running_var, 1.0) + inner.eps) ** 0.5
        return lambda parts: parts * factor, _doubled(inner.bias, 0.0) - factor * _doubled(inner.running_mean, 0.0)
    raise ValueError(f"the final norm is a {type(norm).__name__}, whose scale cannot be held")


def _doubled(values: Tensor | None, otherwise: float) -> Any:
    return otherwise if values is None else values.double()
