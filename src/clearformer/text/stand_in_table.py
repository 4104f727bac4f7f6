"""Which words and numbers may stand in for rare ones, as a model's folder says; and how they are exchanged again.

A small model invents names that it never saw. It knows some very well, though. So a rare name is exchanged for one of
those, the sentence is translated, and wherever the known name's translation stands, the rare one is put. The folder's
table says which names and numbers these are, how they look in a translation, and which words are not rare.
`tools/stand_in_table.py` makes it from the text that the model learned from.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clearformer.text.kept_numbers import digits_of, numbers_in, numbers_lost, spelled, spellings, value_of
from clearformer.text.rare_items import LATIN, SHAPES, Item, Kind, name_places, rare_items, shape

KEY = "stand_ins"  # in the provenance of a model folder
MOST = 64  # stand-ins of a kind
MOST_WORDS = 1_000_000
_MARKED = ("large", "decimal")  # shapes that languages write with marks of their own
_FIGURES = re.compile(r"\d+(?:[.,]\d+)*")
_SIBILANTS = "sxzßSXZ"


@dataclass(frozen=True)
class Attempt:
    """A text with stand-ins. used: each stand-in with the item that it stands for."""

    text: str
    used: tuple[tuple[str, Item], ...]

    @property
    def oddness(self) -> int:
        """How many years have something else in their places: in 1927 is not in five."""
        return sum(item.kind == "year" and shape(value_of(standing)) != "year" for standing, item in self.used)


@dataclass(frozen=True, kw_only=True)
class StandInTable:
    """What a folder says. names: forms in a translation, each with where the item goes; numbers: by shape.

    marks: between groups of digits and before decimals, in the source's language and in the target's.
    """

    script: str
    words: frozenset[str]
    names: Mapping[str, Mapping[str, str]]
    numbers: Mapping[str, tuple[str, ...]]
    marks: tuple[str, str]

    def items(self, text: str) -> list[Item]:
        """What of a text the model cannot be trusted with."""
        return rare_items(text, self.words, self.script)

    def missing(self, text: str, translation: str) -> list[str]:
        """The items of a text that its translation does not have as often; small numbers may stand in words."""
        items = self.items(text)
        names = Counter(item.text for item in items if item.kind == "name")
        lost = [name for name, count in names.items() if len(name_places(name, translation)) != count]
        text, translation = _without(text, names), _without(translation, names)  # a name's digits are its own
        for time in (item.text for item in items if item.kind == "time"):  # 7:15 may be 7.15, and 7:00 may be 7
            text, translation = (one.replace(time, time.removesuffix(":00")) for one in (text, translation))
            translation = translation.replace(time.replace(":", "."), time)
        lost += numbers_lost(text, translation)
        return lost + [item.text for item in items if item.kind in _MARKED and self._is_miswritten(item, translation)]

    def invented(self, text: str, translation: str) -> int:
        """How many numbers and stand-ins a translation has that its text does not account for."""
        names = [item.text for item in self.items(text) if item.kind == "name"]
        text, translation = _without(text, names), _without(translation, names)
        numbers = numbers_in(translation) - numbers_in(text)
        strangers = (form for name, forms in self.names.items() if name not in text for form in forms)
        return numbers.total() + sum(re.search(_bounded(form), translation) is not None for form in strangers)

    def attempts(self, text: str, most: int) -> list[Attempt]:
        """The text with stand-ins, in several ways: for everything, for names alone, for numbers alone."""
        items = self.items(text)
        names = [item for item in items if item.kind == "name"]
        numbers = [item for item in items if item.kind != "name"]
        ways = [way for way in (items, names, numbers) if way]
        ways = ways if names and numbers else ways[:1]
        found: dict[str, Attempt] = {}
        for turn in range(most):
            for way in ways if turn < (most + 1) // 2 else ways[:1]:
                attempt = self._attempt(text, way, turn)
                if attempt is not None:
                    found.setdefault(attempt.text, attempt)
        return list(found.values())

    def restored(self, attempt: Attempt, said: str) -> str | None:
        """A translation with the items in their places; None unless each stand-in is there as often as asked.

        Nor where a name that stood in is left over: Alice, untranslated, or Jackson in Jacksony.
        """
        patterns: dict[str, tuple[str, str]] = {}  # by how the stand-in is written: itself, and how the item is
        wanted: Counter[str] = Counter()
        for standing, item in attempt.used:
            wanted[standing] += 1
            patterns.update((form, (standing, way)) for form, way in self._forms(standing, item))
        ordered = sorted(patterns, key=len, reverse=True)
        pattern = re.compile("|".join(map(_bounded, ordered)))
        seen: Counter[str] = Counter()
        given = dict(attempt.used)
        parts, last = [], 0
        for match in pattern.finditer(said):
            form = match[0] if match[0] in patterns else match[0].lower()
            standing, way = patterns[form]
            seen[standing] += 1
            parts += [said[last : match.start()], _written(way, self.localised(given[standing]))]
            last = match.end()
        parts.append(said[last:])
        return "".join(parts) if seen == wanted and not self._left_over(attempt, parts[::2]) else None

    def _left_over(self, attempt: Attempt, said: Iterable[str]) -> bool:
        """Whether a name that stood in is still there. said: what stands between the items that were put back."""
        names = (standing for standing, item in attempt.used if item.kind == "name")
        begun = re.compile("|".join(_begun(form) for name in names for form in (name, *self.names[name])) or "(?!)")
        return any(begun.search(part) for part in said)

    def localised(self, item: Item) -> str:
        """A number as the target's language groups it; 1,250.5 is 1.250,5 in German."""
        if item.kind not in _MARKED or not self.marks[0] or not self.marks[1]:
            return item.text
        return item.text.translate(str.maketrans(*self.marks))

    def _is_miswritten(self, item: Item, translation: str) -> bool:
        """Whether the digits of a number are there, but grouped otherwise than people do: 92,47 for 9,247."""
        grouping = self.marks[0][:1]
        right = {item.text, self.localised(item), item.text.replace(grouping, "") if grouping else item.text}
        written = {one for one in _FIGURES.findall(translation) if digits_of(one) == digits_of(item.text)}
        return bool(written) and not written & right

    def _attempt(self, text: str, items: Sequence[Item], turn: int) -> Attempt | None:
        """One way to fill the places; equal items get equal stand-ins. None where too few are free."""
        chosen: dict[str, str] = {}
        free = {kind: self._free(kind, text) for kind in {item.kind for item in items}}
        places: Counter[Kind] = Counter()
        for item in items:
            if item.text in chosen:
                continue
            turned = _turned(free[item.kind], turn + places[item.kind])
            left = [one for one in turned if one not in chosen.values()]
            if not left:
                return None
            chosen[item.text] = left[0]
            places[item.kind] += 1
        return _filled(text, items, chosen)

    def _free(self, kind: Kind, text: str) -> list[str]:
        """The stand-ins of a kind that do not stand in the text, in any of their forms."""
        known: Iterable[str] = self.names if kind == "name" else self.numbers.get(kind, ())
        return [one for one in known if one not in text and not any(form in text for form in self.names.get(one, ()))]

    def _forms(self, standing: str, item: Item) -> Iterator[tuple[str, str]]:
        if item.kind == "name":
            yield from self.names[standing].items()
            return
        value = value_of(standing)
        yield value, "{}"
        yield value.translate(str.maketrans(*self.marks)) if all(self.marks) else value, "{}"
        yield from ((word, "{}") for word in spellings(value) if len(word) > 1 or word > "\u3000")


_ALL_SPELLED = frozenset(word for number in range(1001) for word in spellings(str(number)))


def stand_in_table(provenance: Mapping[str, Any]) -> StandInTable | None:
    """The table of a folder's provenance, or None where it has none. A folder may come from anybody."""
    said = provenance.get(KEY)
    if said is None:
        return None
    try:
        return _parsed(said)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"the model's provenance has {KEY} that cannot be read ({error}); get the model again"
        ) from None


def _parsed(said: Any) -> StandInTable:
    words, names, numbers, marks = said["words"].split(), said["names"], said["numbers"], said["marks"]
    if len(words) > MOST_WORDS or len(names) > MOST or any(len(row) > MOST for row in numbers.values()):
        raise ValueError("it is too long")
    forms = {str(name): {str(form): str(way) for form, way in row.items()} for name, row in names.items()}
    if not all(form and way.count("{}") == 1 for row in forms.values() for form, way in row.items()):
        raise ValueError("a form of a name has no place for the name, {}")
    kept = {kind: tuple(map(str, row)) for kind, row in numbers.items() if kind in SHAPES}
    if not all(re.match("[0-9]", value_of(number)) for row in kept.values() for number in row):
        raise ValueError("a number is none")
    source, target = str(marks["source"]), str(marks["target"])
    if len(source) != len(target):
        raise ValueError(f"the marks {source} and {target} are not as many")
    return StandInTable(
        script=str(said["script"]),
        words=frozenset((*words, *forms)),
        names=forms,
        numbers=kept,
        marks=(source, target),
    )


def _without(text: str, names: Iterable[str]) -> str:
    for name in names:
        text = text.replace(name, " ")
    return text


def _bounded(form: str) -> str:
    """The pattern of a stand-in in a translation: Tom is not found in Tomaten, nor 5 in 15."""
    if form[0].isdigit():
        return rf"(?<![\d.,:]){re.escape(form)}(?![.,:]?\d)"
    if form in _ALL_SPELLED:
        return rf"(?i:{spelled(form)})"
    return re.escape(form) if form > "\u3000" else rf"(?<![{LATIN}\d]){re.escape(form)}(?![{LATIN}\d])"


def _begun(form: str) -> str:
    """The pattern of a stand-in that a word begins with; Chinese has no such beginnings."""
    return re.escape(form) if form > "\u3000" else rf"(?<![{LATIN}\d]){re.escape(form)}"


def _turned(known: Sequence[str], by: int) -> list[str]:
    by = by % len(known) if known else 0
    return [*known[by:], *known[:by]]


def _filled(text: str, items: Sequence[Item], chosen: Mapping[str, str]) -> Attempt:
    parts, last = [], 0
    for item in items:
        parts += [text[last : item.start], chosen[item.text]]
        last = item.end
    return Attempt("".join([*parts, text[last:]]), tuple((chosen[item.text], item) for item in items))


def _written(way: str, item: str) -> str:
    """The item in its place; after s a genitive has an apostrophe alone."""
    if way == "{}s" and item[-1:] in _SIBILANTS:
        return f"{item}’"
    return way.replace("{}", item)
