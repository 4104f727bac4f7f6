"""Write into a translator's folder which words and numbers may stand in for those that it does not know.

    python tools/stand_in_table.py en-de $TATOEBA/train.en.gz $TATOEBA/train.de.gz
    python tools/stand_in_table.py zh-en $ZH/train.zh.gz $ZH/train.en.gz
    python tools/stand_in_table.py en-zh $ZH/train.en.gz $ZH/train.zh.gz --also $TATOEBA/train.en.gz

The words that are not rare are those of the text that the model learned from: written small once, or, if they are only
ever written with a capital, so many times (--seen). A small text has not all of a language's words, so that others may
be taken from a larger one (--also). How a name looks in a translation is counted in the same text, and
which names and numbers the model keeps is tried on its sentences: the best of each kind stand in. The weights stay as
they are.
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from clearformer.folder.description import find_model
from clearformer.folder.provenance import remember
from clearformer.inference.engines import open_translator
from clearformer.text.kept_numbers import numbers_kept, value_of
from clearformer.text.lines import read_lines
from clearformer.text.rare_items import LATIN, SHAPES, shape
from clearformer.text.scripts import ScriptTally, scripts_of
from clearformer.text.stand_in_table import KEY

# Names that may be tried: people and places that many languages have.
NAMES = "Tom Mary John Boston Jackson Paris Jim Alice Bob Bill Ken London Jane Nancy Jack Linda Mike Tokyo Kate Emily"
# Between groups of digits, and before decimals.
MARKS = {"en": ",.", "de": ".,", "zh": ",.", "fr": "\u202f,", "es": ".,", "it": ".,"}
NUMBERS = {
    "digit": "3 5 4 6 7",
    "small": "20 30 50 15 25 40 18 60",
    "year": "2013 1990 1960 1945 2003 1980 1995",
    "large": "100 300 500 200 1000 120 150",
    "decimal": "2.5 1.5 3.5 0.5",
    "time": "2:30 6:30 7:30 8:30 10:30",
}
IN_WORDS = {"zh": "三 五 十 四 六", "en": "three five ten four six", "de": "drei fünf zehn vier sechs"}
SHORT = "digit", "small"  # shapes that may stand in for the others
TRIED_NAMES = 20  # sentences for each name
TRIED = 12  # sentences for each number
START_ALONE = 3  # times that a word was seen that only ever stands at the beginning of a sentence
FEWEST = 8  # sentences that say anything
ENOUGH = 0.4  # of them have to keep a name
NAMES_KEPT = 8
NUMBERS_KEPT = 3  # of the same shape
SHORT_KEPT = 5  # of short ones and words
WORD = re.compile(rf"[{LATIN}]+(?:[-'’][{LATIN}]+)*")
NUMBER = re.compile(r"(?<![\d.,:])\d+(?:[.,:]\d+)*(?![.,:]?\d)")


def main() -> None:
    """Count, try, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a model folder, or the name of one that ships")
    parser.add_argument("source", type=Path, help="what it learned from, one sentence per line")
    parser.add_argument("target", type=Path, help="the translations")
    parser.add_argument("--seen", type=int, default=5, help="how often a word in capitals was seen if it is known (5)")
    parser.add_argument("--also", type=Path, help="more text of the source's language: its words in small letters")
    given = parser.parse_args()
    folder = find_model(given.model)
    sources, targets = list(read_lines(given.source)), list(read_lines(given.target))
    translator = open_translator(folder, scores="none")
    languages = [str(translator.provenance[f"{side}_language"]) for side in ("source", "target")]
    marks = dict(zip(("source", "target"), (MARKS[one] for one in languages), strict=True))
    words = {*words_of(sources, given.seen)}
    if given.also:
        words |= {word for word in words_of(list(read_lines(given.also)), given.seen) if word.islower()}
    table = {
        "script": script_of(sources),
        "words": " ".join(sorted(words)),
        "names": names_kept(translator, sources, targets),
        "numbers": numbers_that_stay(translator, sources, IN_WORDS.get(languages[0], "")),
        "marks": marks,
    }
    remember(folder, KEY, table)
    print(f"{len(table['words'].split()):,} words; stand-ins: {table['names']} {table['numbers']}")


def script_of(lines: Sequence[str]) -> str:
    """The script that most lines are written in."""
    tally = ScriptTally(1)
    for number, line in enumerate(lines, start=1):
        tally.see(number, scripts_of(line), line)
    return tally.own() or "Latin"


def words_of(lines: Sequence[str], seen: int) -> Iterator[str]:
    """Words in small letters; those that always have a capital, as they are, if they were seen often enough."""
    counts: Counter[str] = Counter()
    inside: set[str] = set()
    for line in lines:
        for place, found in enumerate(WORD.finditer(line)):
            word = re.sub(r"['’][a-z]{1,2}$", "", found[0])
            counts[word] += 1
            if place and not re.search(r"[.!?\"“:]\s*$", line[: found.start()]):
                inside.add(word)
    small = {word for word in counts if word.islower()}
    yield from small
    for word, count in counts.items():
        if word.lower() not in small and not word.islower() and count >= (seen if word in inside else START_ALONE):
            yield word


def names_kept(translator: Any, sources: Sequence[str], targets: Sequence[str]) -> dict[str, dict[str, str]]:
    """The names that stand in, most often kept first, each with its forms in a translation."""
    rated = []
    wide = script_of(sources) != "Latin"  # then the name is in the translations, and what goes with it in the sources
    for name in NAMES.split():
        partner = partner_of(name, targets, sources) if wide else partner_of(name, sources, targets)
        if partner is None:
            continue
        left, right = (partner, name) if wide else (name, partner)
        forms = forms_of(right, left, sources, targets)
        sentences = [line for line in sources if len(places(left, line)) == 1][-TRIED_NAMES:]
        found = translator.translate(sentences, keep_names=False)
        kept = sum(sum(len(places(form, one.text)) for form in forms) == 1 for one in found) / max(1, len(found))
        print(f"{left:10} {right:10} {len(sentences):3} sentences, kept in {kept:.0%}")
        if kept >= ENOUGH:
            rated.append((kept, left, forms))
    rated.sort(key=lambda one: -one[0])
    return {left: forms for _, left, forms in rated[:NAMES_KEPT]}


def partner_of(name: str, lines: Sequence[str], others: Sequence[str]) -> str | None:
    """What stands in the other lines wherever these have a name: a word, or a few characters."""
    beside = [other for line, other in zip(lines, others, strict=True) if places(name, line)]
    if len(beside) < FEWEST:
        return None
    counts = Counter(unit for line in beside for unit in units_of(line))
    everywhere = {one: sum(one in line for line in others) for one, _ in counts.most_common(20)}
    best = max(everywhere, key=lambda one: (counts[one] ** 2 / everywhere[one], len(one)))
    return best if counts[best] > 0.5 * len(beside) else None


def units_of(line: str) -> set[str]:
    """Words, or in Chinese whatever might be a name."""
    if any(sign > "\u3000" for sign in line):
        return {line[at : at + size] for size in (2, 3, 4) for at in range(len(line) - size + 1)}
    return set(WORD.findall(line))


def forms_of(name: str, left: str, sources: Sequence[str], targets: Sequence[str]) -> dict[str, str]:
    """A name, and with an s where translations write that for a genitive."""
    pairs = zip(sources, targets, strict=True)
    owned = sum(bool(places(f"{name}s", target)) and left in source for source, target in pairs)
    return {name: "{}"} | ({f"{name}s": "{}s"} if owned >= FEWEST else {})


def places(name: str, line: str) -> list[str]:
    """Where a name stands."""
    if name not in line:
        return []
    return re.findall(re.escape(name) if name > "\u3000" else rf"(?<![{LATIN}]){re.escape(name)}(?![{LATIN}])", line)


def numbers_that_stay(translator: Any, sources: Sequence[str], in_words: str) -> dict[str, list[str]]:
    """The numbers that stand in for those of each shape: the best of the same shape, then the best short ones.

    They are put in the place of numbers of that shape, or, where the text has too few, of any number.
    """
    like: dict[str, list[str]] = {one: [] for one in SHAPES}
    for line in sources:
        found = NUMBER.findall(line)
        if len(found) == 1:
            like[shape(found[0])].append(line)
    every = [line for lines in like.values() for line in lines]
    chosen = {}
    for kind in SHAPES:
        lines = like[kind] if len(like[kind]) >= FEWEST else every
        candidates = dict.fromkeys(f"{in_words} {' '.join(NUMBERS[one] for one in (kind, *SHORT))}".split())
        rates = {number: rate(translator, number, lines[-TRIED:]) for number in candidates}
        print(kind, len(lines), ", ".join(f"{number} {kept:.0%}" for number, kept in rates.items()))
        best = sorted(rates, key=lambda number: -rates[number])
        own = [number for number in best if number in NUMBERS[kind].split()]
        others = [number for number in best if number not in own]
        chosen[kind] = [*own[:NUMBERS_KEPT], *others[:SHORT_KEPT]]
    return chosen


def rate(translator: Any, number: str, lines: Sequence[str]) -> float:
    """How often a number is kept in place of others."""
    answers = translator.translate([NUMBER.sub(number, line) for line in lines], keep_names=False)
    return sum(numbers_kept(value_of(number), one.text) for one in answers) / max(1, len(answers))


if __name__ == "__main__":
    main()
