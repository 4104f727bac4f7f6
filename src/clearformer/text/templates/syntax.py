"""What a template consists of, as the parser finds it: expressions that have a value, and statements that write."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Constant:
    """A value that stands in the template."""

    value: Any


@dataclass(frozen=True)
class Variable:
    """A name."""

    name: str


@dataclass(frozen=True)
class Sequenced:
    """[a, b] or (a, b)."""

    items: tuple["Expression", ...]
    is_list: bool


@dataclass(frozen=True)
class Dictionary:
    """{a: b}."""

    pairs: tuple[tuple["Expression", "Expression"], ...]


@dataclass(frozen=True)
class Lookup:
    """of.name, and of[key] where `key` is an expression; by_name tells which."""

    of: "Expression"
    key: "Expression"
    by_name: bool


@dataclass(frozen=True)
class SliceOf:
    """of[start:stop:step]."""

    of: "Expression"
    start: "Expression | None"
    stop: "Expression | None"
    step: "Expression | None"


@dataclass(frozen=True)
class Applied:
    """A function, method, filter or test by its name. of: what a method, filter or test is applied to."""

    kind: str  # function, method, filter, test
    name: str
    of: "Expression | None"
    arguments: tuple["Expression", ...]
    named: tuple[tuple[str, "Expression"], ...]


@dataclass(frozen=True)
class Operation:
    """One or two operands."""

    sign: str
    left: "Expression"
    right: "Expression | None" = None


@dataclass(frozen=True)
class Compared:
    """a < b <= c: true where each pair is."""

    first: "Expression"
    rest: tuple[tuple[str, "Expression"], ...]


@dataclass(frozen=True)
class Conditional:
    """then if condition else otherwise; without an else, nothing."""

    condition: "Expression"
    then: "Expression"
    otherwise: "Expression | None"


Expression = (
    Constant | Variable | Sequenced | Dictionary | Lookup | SliceOf | Applied | Operation | Compared | Conditional
)


@dataclass(frozen=True)
class Written:
    """{{ value }}, or text outside of tags, which is a constant."""

    line: int
    value: Expression


@dataclass(frozen=True)
class Assignment:
    """{% set name = value %}, or set name.attribute; of a block, the value is what its body writes."""

    line: int
    name: str
    attribute: str | None
    value: "Expression | tuple[Statement, ...]"


@dataclass(frozen=True)
class IfBlock:
    """{% if %}, its elifs as nested blocks."""

    line: int
    condition: Expression
    then: tuple["Statement", ...]
    otherwise: tuple["Statement", ...]


@dataclass(frozen=True)
class ForBlock:
    """{% for targets in items if condition %}."""

    line: int
    targets: tuple[str, ...]
    items: Expression
    condition: Expression | None
    body: tuple["Statement", ...]
    otherwise: tuple["Statement", ...]


@dataclass(frozen=True)
class LoopExit:
    """{% break %} or {% continue %}."""

    line: int
    breaks: bool


Statement = Written | Assignment | IfBlock | ForBlock | LoopExit
