"""Which script is a line written in? Enough to notice a Russian line in an English file, no more."""

import re
import unicodedata
from collections import Counter
from functools import lru_cache

# Fewer letters say nothing: "OK" and "Tom" occur in every language.
_ENOUGH_LETTERS = re.compile(r"(?:[^\W\d_][\W\d_]*){8}")

# Letters up to Latin Extended-B and in Latin Extended Additional, and no other script's: most lines of most corpora.
_NOT_PLAIN_LATIN = re.compile("[^\x00-\u024f\u1e00-\u1eff\u2000-\u2bff\ufeff]")
_LATIN = frozenset({"Latin"})

# A script counts in a line when it has a tenth of its letters: one foreign name does not change the language, and a
# long foreign name does not hide the few Chinese characters around it.
_SHARE = 0.1

_REMEMBERED = 200  # characters of an example

# Chinese and Japanese are written in overlapping scripts, so they count as one.
_ONE_FAMILY = {"CJK": "Han/Kana", "HIRAGANA": "Han/Kana", "KATAKANA": "Han/Kana", "IDEOGRAPHIC": "Han/Kana"}


@lru_cache(maxsize=1 << 16)
def script_of(character: str) -> str | None:
    """The script of a letter, from the first word of its Unicode name; None for anything that is not a letter."""
    if not character.isalpha():
        return None
    words = unicodedata.name(character, "").split()
    if words and words[0] in ("FULLWIDTH", "HALFWIDTH", "MODIFIER", "MATHEMATICAL"):
        words = words[1:]
    if not words or words[0] == "LETTER":
        return None
    return _ONE_FAMILY.get(words[0], words[0].capitalize())


def scripts_of(line: str) -> frozenset[str]:
    """The scripts that count in a line; empty when it has too few letters to tell."""
    if not _ENOUGH_LETTERS.search(line) and not _enough_without_words(line):
        return frozenset()
    if not _NOT_PLAIN_LATIN.search(line):
        return _LATIN
    counts: dict[str, int] = {}
    for character in line:
        script = script_of(character)
        if script is not None:
            counts[script] = counts.get(script, 0) + 1
    enough = _SHARE * sum(counts.values())
    return frozenset(script for script, count in counts.items() if count >= enough)


def _enough_without_words(line: str) -> bool:
    """A sentence of Chinese needs fewer characters than one of letters."""
    return sum(script_of(character) == "Han/Kana" for character in line[:32]) >= 3


# A script is the file's own when this share of the lines that can be judged are written in it.
_OWN = 0.8


class ScriptTally:
    """The scripts of a whole file. Which lines are foreign is known only at its end, so a few of each kind are kept."""

    def __init__(self, examples: int) -> None:
        self._examples = examples
        self._lines: Counter[frozenset[str]] = Counter()
        self._first: dict[frozenset[str], list[tuple[int, str]]] = {}

    def see(self, number: int, scripts: frozenset[str], line: str) -> None:
        if scripts:
            self._lines[scripts] += 1
            first = self._first.setdefault(scripts, [])
            if len(first) < self._examples:
                first.append((number, line[:_REMEMBERED]))

    def own(self) -> str | None:
        """The script of the file, if it has one."""
        by_script: Counter[str] = Counter()
        for scripts, count in self._lines.items():
            by_script.update(dict.fromkeys(scripts, count))
        script, count = max(by_script.items(), key=lambda item: (item[1], item[0]), default=("", 0))
        return script if count and count >= _OWN * self._lines.total() else None

    def foreign_to(self, own: str) -> tuple[int, list[tuple[int, frozenset[str], str]]]:
        """How many lines are without the script `own`, and the first few: number, scripts, text."""
        foreign = [scripts for scripts in self._lines if own not in scripts]
        first = [(number, scripts, text) for scripts in foreign for number, text in self._first[scripts]]
        first.sort(key=lambda found: found[0])
        return sum(self._lines[scripts] for scripts in foreign), first[: self._examples]


class SwapTally:
    """Pairs that may have their sides swapped: known for sure when both files' own scripts are known."""

    def __init__(self, examples: int) -> None:
        self._examples = examples
        self._lines: Counter[tuple[frozenset[str], frozenset[str]]] = Counter()
        self._first: dict[tuple[frozenset[str], frozenset[str]], list[tuple[int, str]]] = {}

    def see(self, number: int, source: frozenset[str], target: frozenset[str], line: str) -> None:
        if source and target and source.isdisjoint(target):
            self._lines[source, target] += 1
            first = self._first.setdefault((source, target), [])
            if len(first) < self._examples:
                first.append((number, line[:_REMEMBERED]))

    def between(self, source_own: str | None, target_own: str | None) -> tuple[int, list[tuple[int, str]]]:
        """How many pairs are written the other way round, and the first few: number, source text."""
        if source_own is None or target_own is None or source_own == target_own:
            return 0, []
        swapped = [pair for pair in self._lines if target_own in pair[0] and source_own in pair[1]]
        first = sorted(found for pair in swapped for found in self._first[pair])
        return sum(self._lines[pair] for pair in swapped), first[: self._examples]
