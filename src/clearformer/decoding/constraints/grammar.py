"""What a form is made of, whoever wrote it down: letters, series, alternatives, repetitions, lists, references."""

from dataclasses import dataclass
from typing import TypeAlias

from clearformer.decoding.constraints.character_sets import Characters


@dataclass(frozen=True)
class Letter:
    """One character out of a set."""

    characters: Characters


@dataclass(frozen=True)
class Series:
    """One part after the other; no part at all is the empty text."""

    parts: tuple["Part", ...]


@dataclass(frozen=True)
class Either:
    """One of several; none at all is what no text fits."""

    options: tuple["Part", ...]


@dataclass(frozen=True)
class Repeat:
    """The same part so many times. most: None is without end."""

    part: "Part"
    least: int
    most: int | None


@dataclass(frozen=True)
class Listing:
    """Some of several parts, in order, with a separator between them. parts: each with whether it must be there."""

    parts: tuple[tuple["Part", bool], ...]
    separator: "Part"


@dataclass(frozen=True)
class RuleCall:
    """A rule by its name, which may lead back to itself."""

    name: str


@dataclass(frozen=True)
class LetterMachine:
    """States that are walked letter by letter, beginning with 0. quoted: inside a JSON string, with its escapes."""

    edges: tuple[tuple[tuple[Characters, int], ...], ...]
    ends: frozenset[int]
    quoted: bool = False


Part: TypeAlias = Letter | Series | Either | Repeat | Listing | RuleCall | LetterMachine

NOTHING = Either(())  # no text fits
EMPTY = Series(())


@dataclass(frozen=True)
class Grammar:
    """A form, with the rules that it refers to."""

    start: Part
    rules: dict[str, Part]


def text(said: str) -> Part:
    """Exactly this text."""
    return Series(tuple(Letter(Characters.of(letter)) for letter in said))


def choices(texts: tuple[str, ...]) -> Grammar:
    """One of several texts."""
    if not texts:
        raise ValueError("choices are empty; give at least one text")
    if "" in texts:
        raise ValueError("one of the choices is empty; every choice needs a character")
    return Grammar(Either(tuple(map(text, texts))), {})
