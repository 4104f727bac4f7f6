"""One cell of an attention matrix with everything that it is computed from, and what becomes of it.

Nothing is computed here that the model has not computed itself: operands are weights, or values of its forward pass.
The page puts them together again in float64 and shows both results.
"""

from typing import Any

import torch
from torch import Tensor, nn

from clearformer.model.attention import Attention, split
from clearformer.model.layers import BatchNorm, Residual
from clearformer.model.positions import Rotary
from clearformer.serving.refusal import Refused
from clearformer.studio.attention_layers import AttentionLayer, input_of
from clearformer.studio.packing import pack
from clearformer.studio.shown_model import Look
from clearformer.studio.trace_cache import TraceCache, Values


def cell(
    traces: TraceCache, look: Look, layer: AttentionLayer, *, head: int, query: int, key: int, feature: int
) -> dict[str, Any]:
    """The operands of weights[head, query, key], of the head's output and of one feature of the layer's output."""
    attention, residual = _parts(traces, layer)
    values = _values(traces, look, layer)
    weights = values[f"{layer.name}.weights"]
    _check("head", head, weights.size(0))
    _check("query", query, weights.size(1))
    _check("key", key, weights.size(2))
    _check("feature", feature, attention.out_proj.out_features)
    found = {
        "layer": layer.name,
        "head": head,
        "query": query,
        "key": key,
        "feature": feature,
        "scale": scale_of(attention),
        **_row(values, layer, head, query),
        **_merged(attention, values, layer, query, feature),
        **_added(residual, values, layer, query, feature),
    }
    if isinstance(attention.position, Rotary):
        found["rotation"] = _rotation(attention, values, layer, head, query, key)
    return found


def all_cells(traces: TraceCache, look: Look, layer: AttentionLayer, *, feature: int = 0) -> dict[str, Any]:
    """What `cell` needs besides the recorded values, for every cell of a layer: a page without a server has both."""
    attention, residual = _parts(traces, layer)
    place, norm = _norm(residual)
    out, bias = attention.out_proj, attention.out_proj.bias
    found = {
        "feature": feature,
        "scale": scale_of(attention),
        "shared": layer.heads // layer.kv_heads,
        "input": input_of(layer),
        "out_weight": pack(out.weight[feature]),
        "out_bias": None if bias is None else bias[feature].item(),
        "norm": {"place": place, **describe_norm(norm, feature)},
    }
    if isinstance(attention.position, Rotary):
        q, k, cosines, sines = _turned(attention, _values(traces, look, layer), layer)
        pairs = attention.position.pairs
        found["rotation"] = {"pairs": pairs, "q": pack(q), "k": pack(k), "cos": pack(cosines), "sin": pack(sines)}
    return found


def _parts(traces: TraceCache, layer: AttentionLayer) -> tuple[Attention, Residual]:
    if not layer.exact:
        told = "{layer} does not score by dot products, so there is no such arithmetic to show"
        raise Refused("additive", told, layer=layer.name)
    attention = traces.shown_model.model.get_submodule(layer.name)
    residual = traces.shown_model.model.get_submodule(f"{layer.name}_residual")
    assert isinstance(attention, Attention)
    assert isinstance(residual, Residual)
    return attention, residual


def _values(traces: TraceCache, look: Look, layer: AttentionLayer) -> Values:
    return traces.values(look, [f"{layer.name}.*", f"{layer.name}_residual.*", input_of(layer)])


def scale_of(attention: Attention) -> float:
    """What dot products are multiplied by."""
    return float(attention.heads.key_dim**-0.5) if attention.scale is None else attention.scale


def _row(values: Values, layer: AttentionLayer, head: int, query: int) -> dict[str, Any]:
    """The query's row: every key that it is compared with, and every value that it sums up."""
    shared = head // (layer.heads // layer.kv_heads)  # several heads may share one key/value head
    name, row = layer.name, (head, query)
    masked, bias = values[f"{name}.masked"][row], values.get(f"{name}.bias")
    return {
        "q": pack(values[f"{name}.q"][row]),
        "k": pack(values[f"{name}.k"][shared]),
        "v": pack(values[f"{name}.v"][shared]),
        "scores": pack(values[f"{name}.scores"][row]),
        "scaled": pack(values[f"{name}.scaled"][row]),
        "bias": None if bias is None else pack(bias[row]),
        "hidden": [slot for slot, is_hidden in enumerate(_hidden(masked)) if is_hidden],
        "weights": pack(values[f"{name}.weights"][row]),
        "gathered": pack(values[f"{name}.heads"][row]),
    }


def _hidden(masked: Tensor) -> list[bool]:
    """Which keys the mask hides: attention writes the smallest number there."""
    hidden: list[bool] = (masked == torch.finfo(masked.dtype).min).tolist()
    return hidden


def _merged(attention: Attention, values: Values, layer: AttentionLayer, query: int, feature: int) -> dict[str, Any]:
    """All heads of this query side by side, and the row of W_O that mixes them into one feature."""
    out, bias = attention.out_proj, attention.out_proj.bias
    return {
        "concat": pack(values[f"{layer.name}.heads"][:, query].flatten()),
        "out_weight": pack(out.weight[feature]),
        "out_bias": None if bias is None else bias[feature].item(),
        "output": pack(values[f"{layer.name}.output"][query]),
    }


def _added(residual: Residual, values: Values, layer: AttentionLayer, query: int, feature: int) -> dict[str, Any]:
    """The residual sum and the norm, in whichever of its two places."""
    place, norm = _norm(residual)
    flows, total = values[input_of(layer)][query], values[f"{layer.name}_residual.sum"][query]
    return {
        "input": pack(flows),
        "sum": pack(total),
        "norm": {
            "place": place,
            **describe_norm(norm, feature),
            "of": pack(flows if place == "pre" else total),
            "result": pack(values[f"{layer.name}_residual.{'before' if place == 'pre' else 'after'}"][query]),
        },
    }


def _norm(residual: Residual) -> tuple[str, nn.Module]:
    return ("post", residual.after) if isinstance(residual.before, nn.Identity) else ("pre", residual.before)


def describe_norm(norm: nn.Module, feature: int) -> dict[str, Any]:
    """Which norm it is and its numbers for one feature."""
    if isinstance(norm, nn.LayerNorm):
        return {
            "kind": "layer",
            "eps": norm.eps,
            "gain": _at(norm.weight, feature, 1.0),
            "shift": _at(norm.bias, feature),
        }
    if isinstance(norm, nn.RMSNorm):
        eps = torch.finfo(torch.float32).eps if norm.eps is None else norm.eps
        return {"kind": "rms", "eps": eps, "gain": _at(norm.weight, feature, 1.0), "shift": 0.0}
    if isinstance(norm, BatchNorm):
        inner = norm.norm
        return {
            "kind": "batch",
            "eps": inner.eps,
            "gain": _at(inner.weight, feature, 1.0),
            "shift": _at(inner.bias, feature),
            "mean": _at(inner.running_mean, feature),
            "variance": _at(inner.running_var, feature, 1.0),
        }
    return {"kind": "none"}


def _at(values: Tensor | None, place: int, otherwise: float = 0.0) -> float:
    return otherwise if values is None else float(values[place].item())


def _rotation(
    attention: Attention, values: Values, layer: AttentionLayer, head: int, query: int, key: int
) -> dict[str, Any]:
    """Query and key before the rotation, and the angles."""
    q, k, cosines, sines = _turned(attention, values, layer)
    assert isinstance(attention.position, Rotary)
    return {
        "pairs": attention.position.pairs,
        "q": pack(q[head, query]),
        "k": pack(k[head // (layer.heads // layer.kv_heads), key]),
        "cos": pack(cosines[[query, key]]),
        "sin": pack(sines[[query, key]]),
    }


@torch.inference_mode()
def _turned(attention: Attention, values: Values, layer: AttentionLayer) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """All queries and keys before the rotation, H T K and G T K, and each position's cosines and sines, T K/2."""
    assert isinstance(attention.position, Rotary)
    given = values[f"{layer.name}_residual.before"][None]
    cosines, sines = attention.position.turn(torch.arange(given.size(1))[None])
    return (
        split(attention.q_proj(given), layer.heads)[0],
        split(attention.k_proj(given), layer.kv_heads)[0],
        cosines[0, 0],
        sines[0, 0],
    )


def _check(what: str, number: int, count: int) -> None:
    if not 0 <= number < count:
        raise ValueError(f"{what} {number} does not exist; there are {count}, from 0")
