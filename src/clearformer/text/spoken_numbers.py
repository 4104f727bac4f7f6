"""English number words as figures: "nineteen forty-five" and "1945", "two thousand and one" and "2001" become one.

Written for comparing transcripts, so every way of saying a number leads to the figures that it is usually written with;
a lone "a" or "and" stays a word.
"""

from collections.abc import Sequence

_ONES = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_LARGE = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
CENTURIES = tuple(str(number) for number in range(13, 21))  # "twelve thirty" is rather a time of the day
_ORDINALS = {
    "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12,
    "fourth": 4, "sixth": 6, "seventh": 7, "tenth": 10, "eleventh": 11,
    **{f"{word}th": value for word, value in _ONES.items() if value > 12},
    **{f"{word[:-1]}ieth": value for word, value in _TENS.items()},
}  # fmt: skip


def as_figures(words: Sequence[str]) -> list[str]:
    """The words with every run of number words as figures. "first" and "second" stay: they are words of their own."""
    found: list[str] = []
    place = 0
    while place < len(words):
        length, said = _number(words[place:])
        if length:
            found += said
            place += length
        else:
            found.append(words[place])
            place += 1
    return found


def _number(words: Sequence[str]) -> tuple[int, list[str]]:
    """How many of the first words are a number, and its figures; several groups where it is read pair by pair."""
    total, current, used = 0, None, 0
    groups: list[str] = []
    for place, word in enumerate(words):
        value = _small(word)
        if value is not None:
            if current is not None and not _fits(current, value, total):
                # nineteen | forty-five, one | two: another group, joined if both are of two figures
                groups.append(str(total + current))
                total, current = 0, value
            else:
                current = (current or 0) + value
        elif word == "hundred" and current is not None and 0 < current < 100:
            current *= 100
        elif word in _LARGE and current is not None:
            total, current = total + current * _LARGE[word], 0
        elif word in _ORDINALS and (current is None or _fits(current, _ORDINALS[word], total)):
            number = total + (current or 0) + _ORDINALS[word]
            return place + 1, [*_joined(groups), f"{number}{_ending(number)}"]
        elif word == "and" and _goes_on(current, total, words[place + 1 : place + 2]):
            continue
        else:
            break
        used = place + 1
    if current is None:
        return 0, []
    return used, _joined([*groups, str(total + current)])


def _small(word: str) -> int | None:
    return _ONES.get(word, _TENS.get(word))


def _fits(before: int, value: int, total: int) -> bool:
    """Whether a number word continues the number before it: forty | five, three hundred | seven, two thousand | one."""
    if value == 0:
        return False
    if before == 0:
        return total > 0
    if before % 100 == 0:
        return True
    return before % 10 == 0 and before % 100 >= 20 and value < 10


def _goes_on(current: int | None, total: int, following: Sequence[str]) -> bool:
    """Whether "and" stands inside of a number: behind a hundred or a thousand, before a small number."""
    large = (current is not None and current >= 100) or (total > 0 and current == 0)
    return large and bool(following) and (_small(following[0]) is not None or following[0] in _ORDINALS)


def _joined(groups: Sequence[str]) -> list[str]:
    """Years are read as two pairs; other groups (a time of the day, the figures of a telephone number) stay apart."""
    if len(groups) == 2 and all(len(group) == 2 for group in groups) and groups[0] in CENTURIES:
        return ["".join(groups)]
    return list(groups)


def _ending(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
