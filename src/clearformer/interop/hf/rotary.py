"""Rotary positions and windows, as every family since Llama writes them into config.json.

Old files have rope_theta, rope_scaling and partial_rotary_factor, new ones a table rope_parameters with all of them.
Kinds of scaling beyond linear and llama3 are refused by name: yarn, dynamic and longrope are other formulas.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from clearformer.interop.config_keys import Keys, finite, positive, shown
from clearformer.model.config import PositionConfig

_USUAL = {"rope_type", "type", "rope_theta"}
_NAMES = {  # what each kind of scaling has besides
    "default": set[str](),
    "linear": {"factor"},
    "llama3": {"factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"},
}
_FULL, _SLIDING = "full_attention", "sliding_attention"


def position(keys: Keys, *, width: int, partial: bool = False) -> PositionConfig:
    """One scheme for all layers. width: of a head. partial: whether the published code may turn a part of it."""
    old, new = keys.table("rope_scaling"), keys.table("rope_parameters")
    if old and new:
        raise ValueError(f"{keys.where} has rope_scaling beside rope_parameters; it is not known which of them counts")
    rope: Mapping[str, Any] = old or new or {}
    if "rope_theta" in rope:
        keys.ignore("rope_theta")
        base = positive(rope["rope_theta"], f"{keys.where}: rope_theta")
    else:
        base = keys.above_zero("rope_theta")
    turned = _turned(keys, rope, width) if partial else None
    return scaled(keys, rope, base, turned=turned, partial=partial)


def scaled(
    keys: Keys, rope: Mapping[str, Any], base: float, *, turned: int | None = None, partial: bool = False
) -> PositionConfig:
    """From a table of the scaling, or an empty one."""
    kind = rope.get("rope_type", rope.get("type", "default"))
    known = _NAMES.get(kind) if isinstance(kind, str) else None
    strange = sorted(rope.keys() - _USUAL - (known or set()) - ({"partial_rotary_factor"} if partial else set()))
    if strange or known is None:
        raise ValueError(
            f"{keys.where}: rotary angles of the kind {shown(kind)} ({', '.join(strange) or 'no more keys'}) are not "
            f"supported; {', '.join(_NAMES)} are"
        )
    if kind == "default":
        return PositionConfig(kind="rotary", base=base, turned=turned)
    named = f"{keys.where}: the {{}} of a {kind} scaling of the rotary angles"
    factor = positive(rope.get("factor"), named.format("factor"))
    if kind == "linear":
        return PositionConfig(kind="rotary", base=base, scaling="linear", factor=factor, turned=turned)
    low, high = (positive(rope.get(f"{end}_freq_factor"), named.format(f"{end}_freq_factor")) for end in _ENDS)
    trained = rope.get("original_max_position_embeddings")
    if isinstance(trained, bool) or not isinstance(trained, int) or trained < 1 or not low < high:
        raise ValueError(
            f"{keys.where}: a llama3 scaling of the rotary angles needs a low_freq_factor below its high_freq_factor "
            f"and original_max_position_embeddings as a whole number, not {low:g}, {high:g} and {shown(trained)}"
        )
    return PositionConfig(
        kind="rotary", base=base, scaling="llama3", factor=factor, low=low, high=high, trained=trained, turned=turned
    )


_ENDS = ("low", "high")


def _turned(keys: Keys, rope: Mapping[str, Any], width: int) -> int | None:
    """How many features of a head turn; None for all of them."""
    given = rope.get("partial_rotary_factor")
    if given is None:
        old = next((key for key in ("partial_rotary_factor", "rotary_pct") if key in keys.plain), None)
        given = 1.0 if old is None and "partial_rotary_factor" not in keys.defaults else keys.number(
            old or "partial_rotary_factor"
        )  # fmt: skip
    keys.ignore("partial_rotary_factor", "rotary_pct")
    turned = int(width * finite(given, f"{keys.where}: partial_rotary_factor"))
    if not 2 <= turned <= width or turned % 2:
        raise ValueError(f"{keys.where}: {turned} of a head's {width} features would turn, and they turn in pairs")
    return None if turned == width else turned


def written(position: PositionConfig) -> dict[str, Any]:
    """As rope_parameters."""
    rope: dict[str, Any] = {"rope_type": "default", "rope_theta": position.base}
    if position.scaling in ("linear", "llama3"):
        rope |= {"rope_type": position.scaling, "factor": position.factor}
    if position.scaling == "llama3":
        rope |= {"low_freq_factor": position.low, "high_freq_factor": position.high}
        rope |= {"original_max_position_embeddings": position.trained}
    return rope


def two_bases(keys: Keys, *, far: str, near: str, scaling: bool = True) -> PositionConfig:
    """One base for layers that look everywhere, which may be scaled, and one for those with a window (Gemma 3).

    far, near: where old files write them. scaling: whether rope_scaling, of old files, is meant for the first alone.
    """
    old, new = keys.table("rope_scaling"), keys.table("rope_parameters") or {}
    if new.keys() - {_FULL, _SLIDING}:
        raise ValueError(f"{keys.where}: rope_parameters must have a table for each kind of layer")
    full, sliding = (_table(keys, new, kind) for kind in (_FULL, _SLIDING))
    if old and not scaling:
        raise ValueError(f"{keys.where}: rope_scaling would scale the angles of all layers, which is not supported")
    if old and full.keys() - {"rope_type", "rope_theta"}:
        raise ValueError(f"{keys.where} has rope_scaling beside rope_parameters; it is not known which of them counts")
    bases = []
    for table, key in ((full, far), (sliding, near)):
        if "rope_theta" in table:
            keys.ignore(key)
            bases.append(positive(table["rope_theta"], f"{keys.where}: rope_theta"))
        else:
            bases.append(keys.above_zero(key))
    if scaled(keys, sliding, bases[1]).scaling != "none":
        raise ValueError(f"{keys.where}: the angles of layers with a window are scaled, which is not supported")
    return replace(scaled(keys, {**full, **(old or {})}, bases[0]), local_base=bases[1])


def written_bases(position: PositionConfig) -> dict[str, Any]:
    """The same as rope_parameters."""
    near = {"rope_type": "default", "rope_theta": position.local_base or 10_000.0}
    return {_FULL: written(position), _SLIDING: near}


def _table(keys: Keys, rope: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    table = rope.get(kind) or {}
    if not isinstance(table, Mapping):
        raise ValueError(f"{keys.where}: rope_parameters must have a table for {kind}")
    return table


@dataclass(frozen=True)
class LayerWindows:
    """How far back each layer looks; `wide` are those that look everywhere though there is a window."""

    back: int | None
    wide: tuple[int, ...]

    @classmethod
    def read(cls, keys: Keys, layers: int, *, width: int | None, sliding: Mapping[int, bool]) -> "LayerWindows":
        """width: the published window, which counts the token itself. sliding: by layer, where the file has no list."""
        named = keys.plain.get("layer_types")
        keys.ignore("layer_types")
        if named is not None:
            known = isinstance(named, list) and len(named) == layers and set(map(str, named)) <= {_FULL, _SLIDING}
            if not known:
                raise ValueError(f"{keys.where}: layer_types must name {_FULL} or {_SLIDING} for each layer")
            sliding = {layer: word == _SLIDING for layer, word in enumerate(named)}
        near = [layer for layer in range(layers) if sliding[layer]]
        if not near:
            return cls(None, ())
        if width is None:
            raise ValueError(
                f"{keys.where}: layer_types names windows, but sliding_window does not say how wide they are"
            )
        return cls(width - 1, tuple(layer for layer in range(layers) if layer not in near))


def layer_types(window: int | None, wide: tuple[int, ...], layers: int) -> list[str]:
    """The same as their list."""
    return [_FULL if window is None or layer in wide else _SLIDING for layer in range(layers)]
