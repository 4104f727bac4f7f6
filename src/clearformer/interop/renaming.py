"""Their names and ours: one table of rules per family, used in both directions.

A rule names a tensor, or a module whose tensors keep their last word (`.weight`, `.bias`). `*` stands for the number of
a layer. The model itself says which tensors it has, so a table can be longer than one model needs, never shorter:
every tensor of either side is used, or named in an error.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

Shape = tuple[int, ...]


class Store(Protocol):
    """Tensors by name, as a file has them: shapes are known before anything is read."""

    @property
    def shapes(self) -> Mapping[str, Shape]: ...

    def read(self, name: str) -> Tensor: ...


@dataclass(frozen=True)
class Rule:
    """Our tensor or tensors and theirs.

    Several of ours may be one of theirs, concatenated (queries, keys and values in GPT-2). transposed: their matrices
    are input × output. shape: theirs, where the same numbers have another shape (a convolution's kernel). heads: theirs
    joins head by head, not part by part (GPT-NeoX). plus: what ours is above theirs (Gemma stores norms around zero).
    """

    ours: str | tuple[str, ...]
    theirs: str
    transposed: bool = False
    shape: Shape | None = None
    heads: int | None = None
    plus: float = 0.0

    @property
    def parts(self) -> tuple[str, ...]:
        return (self.ours,) if isinstance(self.ours, str) else self.ours


@dataclass(frozen=True)
class RenamingTable:
    """A family's names.

    copies: tensors that some files store twice, with the one that they must equal. fixed: tensors that follow
    from the configuration, with a function from their shape to their value, such as a sinusoidal table; `made` has the
    shape of those that the published program does not compute by itself, so that an export writes them. aside: tensors
    that our model does not use, with the reason; they are named in the report, and a name may have `*`. filled: those
    of them that the published program wants all the same, with their shape and the number that an export fills in.
    spellings: other beginnings of names, which some files have, with those that the rules have.
    """

    rules: Sequence[Rule]
    copies: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, Callable[[Shape], Tensor]] = field(default_factory=dict)
    made: Mapping[str, Shape] = field(default_factory=dict)
    aside: Mapping[str, str] = field(default_factory=dict)
    filled: Mapping[str, tuple[Shape, float]] = field(default_factory=dict)
    spellings: Mapping[str, str] = field(default_factory=dict)


class Link(NamedTuple):
    """A rule applied to one layer and one tensor: our names, their name."""

    ours: tuple[str, ...]
    theirs: str
    rule: Rule


def under(ours: str, theirs: str, rules: Iterable[Rule]) -> list[Rule]:
    """The same rules one level further down on both sides."""
    return [
        replace(rule, ours=tuple(f"{ours}.{part}" for part in rule.parts), theirs=f"{theirs}.{rule.theirs}")
        for rule in rules
    ]


def pairs(names: Mapping[str, str]) -> list[Rule]:
    """Plain rules from a dictionary, ours to theirs."""
    return [Rule(ours, theirs) for ours, theirs in names.items()]


def link(rules: Sequence[Rule], ours: Iterable[str]) -> list[Link]:
    """Apply a table to the tensors that a model has."""
    known = set(ours)
    # The longest rule applies first: `front.position.table.weight` is more exact than `front.position`.
    compiled = sorted(((_pattern(rule.parts[0]), rule) for rule in rules), key=lambda item: -len(item[1].parts[0]))
    links: list[Link] = []
    used: set[str] = set()
    for name in sorted(known):
        for pattern, rule in compiled:
            if found := pattern.fullmatch(name):
                layer, rest = found.groupdict().get("layer") or "", found["rest"] or ""
                mine = tuple(part.replace("*", layer) + rest for part in rule.parts)
                links.append(Link(mine, rule.theirs.replace("*", layer) + rest, rule))
                used.update(mine)
                break
    strange = sorted(known - used)
    if strange:
        raise ValueError(f"this family has no place for {some(strange)}; the model has parts that it does not know")
    absent = sorted(used - known)
    if absent:
        raise ValueError(f"this family joins {some(absent)} with other tensors, but the model has none")
    return links


def check(links: Sequence[Link], table: RenamingTable, shapes: Mapping[str, Shape], store: Store) -> dict[str, str]:
    """Compare all names and shapes before any numbers are read; returns the unused tensors, with the reason.

    shapes: of our tensors.
    """
    present, wanted = store.shapes, {one.theirs for one in links}
    missing = sorted(wanted - present.keys())
    extra = sorted(name for name in present.keys() - wanted if not _explained(name, table))
    if missing or extra:
        raise ValueError(
            f"the weights lack {some(missing)} and have {some(extra)} too many; do they belong to another model?"
        )
    for one in links:
        expected = _their_shape(one, shapes)
        if tuple(present[one.theirs]) != expected:
            raise ValueError(
                f"{one.theirs} is {_spell(present[one.theirs])}, but config.json asks for {_spell(expected)}"
            )
    return {name: reason for name in sorted(present) if (reason := _aside(name, table)) is not None}


def bring(links: Sequence[Link], table: RenamingTable, shapes: Mapping[str, Shape], store: Store) -> dict[str, Tensor]:
    """Read their tensors as ours, one at a time: in float32, or in the two bytes that they have."""
    weights: dict[str, Tensor] = {}
    for one in links:
        value = _numbers(one.theirs, store)
        if one.rule.transposed and value.dim() == 2:
            value = value.mT
        value = _apart(value, one)
        if one.rule.plus:
            value = value.float() + one.rule.plus  # two bytes would not hold the sum
        lengths = [shapes[name][0] if shapes[name] else 1 for name in one.ours]
        pieces = torch.split(value, lengths) if len(one.ours) > 1 else (value,)
        for name, piece in zip(one.ours, pieces, strict=True):
            weights[name] = piece.reshape(shapes[name]).contiguous()
    for copy, original in table.copies.items():
        if copy in store.shapes and original in store.shapes and not _same(copy, original, store):
            raise ValueError(f"{copy} should be the same table as {original} in this configuration, but it differs")
    for name, follows in table.fixed.items():
        if name in store.shapes and not _follows(name, follows, store):
            raise ValueError(f"{name} is not what this family computes from config.json, but something else; refused")
    return weights


def give(links: Sequence[Link], weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Our tensors under their names and in their shapes: the inverse of `bring`."""
    theirs: dict[str, Tensor] = {}
    for one in links:
        value = torch.cat([weights[name] for name in one.ours]) if len(one.ours) > 1 else weights[one.ours[0]]
        if one.rule.transposed and value.dim() == 2:
            value = value.mT
        value = _together(value, one) - one.rule.plus
        theirs[one.theirs] = (value if one.rule.shape is None else value.reshape(one.rule.shape)).contiguous()
    return theirs


def _apart(value: Tensor, one: Link) -> Tensor:
    """From rows that are joined head by head to rows that are joined part by part."""
    if one.rule.heads is None:
        return value
    return value.view(one.rule.heads, len(one.ours), -1, *value.shape[1:]).transpose(0, 1).flatten(0, 2)


def _together(value: Tensor, one: Link) -> Tensor:
    """The inverse of `_apart`."""
    if one.rule.heads is None:
        return value
    return value.view(len(one.ours), one.rule.heads, -1, *value.shape[1:]).transpose(0, 1).flatten(0, 2)


def make(table: RenamingTable) -> dict[str, Tensor]:
    """The tensors that follow from the configuration and that the published program expects in the file."""
    filled = {name: torch.full(shape, value) for name, (shape, value) in table.filled.items()}
    return {name: table.fixed[name](shape).contiguous() for name, shape in table.made.items()} | filled


def some(names: Sequence[str]) -> str:
    """The first few of a list of names, for a sentence."""
    if not names:
        return "nothing"
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _pattern(rule: str) -> re.Pattern[str]:
    """`*` is a layer's number; `.weight` or `.bias` after the rule is kept."""
    return re.compile(re.escape(rule).replace(r"\*", r"(?P<layer>\d+)") + r"(?P<rest>\.(?:weight|bias))?")


def _aside(name: str, table: RenamingTable) -> str | None:
    return next((reason for pattern, reason in table.aside.items() if fnmatchcase(name, pattern)), None)


def _explained(name: str, table: RenamingTable) -> bool:
    return name in table.copies or name in table.fixed or _aside(name, table) is not None


def _their_shape(one: Link, shapes: Mapping[str, Shape]) -> Shape:
    if one.rule.shape is not None:
        return one.rule.shape
    first, *rest = shapes[one.ours[0]] or (1,)
    total = sum((shapes[name] or (1,))[0] for name in one.ours) if len(one.ours) > 1 else first
    shape = (total, *rest)
    return shape[::-1] if one.rule.transposed and len(shape) == 2 else shape


def _numbers(name: str, store: Store) -> Tensor:
    """A tensor in two bytes a number or in float32. Infinities and NaN are refused: they would spoil every output."""
    value = store.read(name)
    if not value.is_floating_point():
        raise ValueError(f"{name} holds {value.dtype} where weights are expected; a quantised model is not read here")
    value = value if value.dtype in (torch.bfloat16, torch.float16) else value.float()
    if not bool(value.isfinite().all()):
        raise ValueError(f"{name} holds values that are not finite numbers; the file is damaged, download it again")
    return value


def _same(copy: str, original: str, store: Store) -> bool:
    return store.shapes[copy] == store.shapes[original] and torch.equal(store.read(copy), store.read(original))


def _follows(name: str, follows: Callable[[Shape], Tensor], store: Store) -> bool:
    """Sines of a thousand radians differ in the fourth decimal if they were computed in float32 or stored in half."""
    shape, value = store.shapes[name], _numbers(name, store).float()
    return len(shape) == 2 and torch.allclose(value, follows(shape).to(value.dtype), rtol=0, atol=2e-3)


def _spell(shape: Shape) -> str:
    return "×".join(map(str, shape)) or "a single number"
