"""Regular expressions in a foreign tokenizer.json: which of them are safe to run.

The library matches them with a backtracking engine, so the time for a pattern such as (a+)+b doubles with every
letter of a text. A repetition inside a repetition is what makes that possible, and published vocabularies need none.
"""

import re
from collections.abc import Iterator
from typing import Any

from clearformer.text.assemble import WORDS  # ours repeats a repetition, each behind a sign that words cannot have

_LONGEST = 4000
_MOST_REPEATS = 3  # unbounded ones in a row of one alternative: each more is a power of the text's length more

# One item of a pattern: an escape (\p{L}, \s), a class in brackets, the beginning or end of a group, a repetition.
_ITEM = re.compile(
    r"\\[pP]\{[^}]*\}|\\.|\[\^?\]?(?:\\.|\[:[^\]]*:\]|[^\]\\])*\]|\(\?(?:[a-zA-Z-]*:|<?[=!]|>)|\(|\)"
    r"|\{\d*,?\d*\}|[*+?|]|.",
    re.DOTALL,
)


def check_patterns(definition: Any) -> None:
    """Refuse a definition that has a pattern which could take forever."""
    for pattern in _patterns(definition):
        reason = None if pattern == WORDS else danger(pattern)
        if reason is not None:
            raise ValueError(f"the pattern {pattern[:60]!r} {reason}, so a text could take forever; refused")


def danger(pattern: str) -> str | None:
    """What is wrong with a pattern, or None."""
    if len(pattern) > _LONGEST:
        return f"has {len(pattern)} characters"
    if re.search(r"\\[1-9]|\\k<|\(\?P=|\(\?R\)|\\g<", pattern):
        return "refers back to what it matched"
    groups: list[int] = []  # of each open group: unbounded repetitions so far in the present alternative
    worst = [0]  # of each level: the most that any alternative had
    items = _ITEM.findall(pattern)
    count = 0
    for place, item in enumerate(items):
        following = items[place + 1] if place + 1 < len(items) else ""
        if item.startswith("(") and not item.startswith("\\"):
            groups.append(count)
            worst.append(0)
            count = 0
        elif item == ")" and groups:
            inside = max(worst.pop(), count)
            if inside and _unbounded(following):
                return "repeats what repeats itself"
            count = groups.pop() + inside
        elif item == "|":
            worst[-1], count = max(worst[-1], count), 0
        elif _unbounded(item):
            count += 1
        if count > _MOST_REPEATS:
            return f"has more than {_MOST_REPEATS} open repetitions in a row"
    return None


def _unbounded(item: str) -> bool:
    return item in ("*", "+") or (item.startswith("{") and item.endswith(",}"))


def _patterns(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "Regex" and isinstance(inner, str):
                yield inner
            elif key not in ("vocab", "merges", "added_tokens"):
                yield from _patterns(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _patterns(inner)
