"""Tags that mark entities: `B-PER` begins one, `I-PER` goes on with it, `O` stands outside.

Other notations say the same: IOBES and BMES also show where an entity ends (`E-`) and that it is one word (`S-`), and
BMES writes `M-` where others write `I-`.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

OUTSIDE = "O"
_BEGIN, _INSIDE, _END = ("B", "S"), ("I", "M", "E"), ("E", "S")


class Span(NamedTuple):
    """An entity: from word `start` up to and without word `end`."""

    start: int
    end: int
    kind: str


def parts(tag: str) -> tuple[str, str] | None:
    """B-PER is ("B", "PER"), O is ("O", ""), and anything else is no tag of an entity."""
    if tag == OUTSIDE:
        return OUTSIDE, ""
    prefix, dash, kind = tag.partition("-")
    return (prefix, kind) if dash and kind and prefix in (*_BEGIN, *_INSIDE) else None


def continues(before: str, tag: str) -> bool:
    """Whether a tag goes on with the entity of the tag before it."""
    past, now = parts(before), parts(tag)
    if past is None or now is None:
        return False
    return now[0] in _INSIDE and past[0] not in (OUTSIDE, *_END) and past[1] == now[1]


def to_bio(tags: Sequence[str]) -> tuple[list[str], list[int]]:
    """Any of the notations as B, I and O, and the places where a tag continues nothing and so begins an entity."""
    made, odd = [], []
    for place, tag in enumerate(tags):
        prefix, kind = parts(tag) or (OUTSIDE, "")
        goes_on = place > 0 and continues(tags[place - 1], tag)
        if prefix in _INSIDE and not goes_on:
            odd.append(place)
        made.append(OUTSIDE if prefix == OUTSIDE else f"{'I' if goes_on else 'B'}-{kind}")
    return made, odd


def spans(tags: Sequence[str]) -> Iterator[Span]:
    """The entities of a sentence. A tag that should continue one but continues nothing begins one."""
    made, _ = to_bio(tags)
    for start, tag in enumerate(made):
        if tag.startswith("B-"):
            end = start + 1
            while end < len(made) and made[end].startswith("I-"):
                end += 1
            yield Span(start, end, tag[2:])


def bio_labels(kinds: Sequence[str]) -> tuple[str, ...]:
    """Every tag of some types of entities, O first."""
    return (OUTSIDE, *(f"{prefix}-{kind}" for kind in sorted(set(kinds)) for prefix in "BI"))


def may_follow(labels: Sequence[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Which label may follow which (row: before, column: after), which may come first, and which last.

    Labels that are no tags of entities may stand anywhere. Where a type has no B-, as in the older IOB, I- may begin;
    where labels say where entities end, an entity that began has to.
    """
    known = [parts(label) for label in labels]
    begun = {kind for prefix, kind in filter(None, known) if prefix in _BEGIN}
    closes = {kind for prefix, kind in filter(None, known) if prefix in _END}

    def open_kind(one: tuple[str, str] | None) -> str | None:
        """The type of an entity that has to go on after this."""
        return one[1] if one and one[1] in closes and one[0] in ("B", "I", "M") else None

    def starts(one: tuple[str, str] | None) -> bool:
        return one is None or one[0] not in _INSIDE or one[1] not in begun

    first = np.array([starts(one) for one in known])
    last = np.array([open_kind(one) is None for one in known])
    pairs = [
        [
            continues(a, b) or (starts(known[after]) and open_kind(known[before]) is None)
            for after, b in enumerate(labels)
        ]
        for before, a in enumerate(labels)
    ]
    return np.array(pairs), first, last
