"""Sentences with made names and numbers, to learn from them that a rare word is copied and never invented.

The sentences are in tools/made_sentences.tsv: Chinese, English, German, with gaps. Every gap is filled at random, the
same in all languages; only the marks inside a number are those of the language (12,480 and 12.480; 3.5 and 3,5).
"""

import random
from collections.abc import Iterator
from pathlib import Path

SENTENCES = Path(__file__).with_name("made_sentences.tsv")
LANGUAGES = ("zh", "en", "de")
BEGINNINGS = "b br c ch d dr f fl g gr h j k kl l m n p pr qu r s sch sh st t th tr v w y z -"
MIDDLES = "a e i o u ai ei ee ie ou oo ö ü á é ø"
JOINTS = "n r l s t m k nd -"
ENDINGS = "n r l s t m k nd rt ng ck ss tz sky ston berg ton ez ini ova - - - -"
FILE_ENDINGS = "txt pdf csv py jpg docx log json html zip"


def made(left: str, right: str, *, times: int, seed: int = 1) -> Iterator[tuple[str, str]]:
    """Every sentence so many times in two languages, each time with other names and numbers."""
    columns = LANGUAGES.index(left), LANGUAGES.index(right)
    rows = [line.split("\t") for line in SENTENCES.read_text(encoding="utf-8").splitlines()]
    chance = random.Random(seed)
    for _ in range(times):
        for row in rows:
            yield filled(row[columns[0]], row[columns[1]], (left, right), chance)


def filled(one: str, other: str, languages: tuple[str, str], chance: random.Random) -> tuple[str, str]:
    """A pair of sentences with its gaps filled."""
    same = {
        "name": name(chance),
        "other": name(chance),
        "year": str(chance.randint(1500, 2030)),
        "few": str(chance.randint(2, 99)),
        "few2": str(chance.randint(2, 31)),
        "time": f"{chance.randint(1, 23)}:{chance.randint(0, 59):02}",
        "digits": "".join(chance.choices("0123456789", k=chance.randint(6, 11))),
        "code": "".join(chance.choices("ABCDEFGHKLMNPRSTX", k=chance.randint(1, 3))) + f"-{chance.randint(1, 9999)}",
        "file": f"{name(chance).lower()}{chance.choice(('', '_', '-'))}{chance.randint(0, 99)}."
        f"{chance.choice(FILE_ENDINGS.split())}",
        "version": ".".join(str(chance.randint(0, 30)) for _ in range(chance.randint(2, 3))),
    }
    number = chance.randint(100, 10 ** chance.randint(3, 6))
    marked, tenths = chance.random() < 0.5, chance.randint(1, 999)
    sides = []
    for sentence, language in zip((one, other), languages, strict=True):
        thousands, point = (".", ",") if language == "de" else (",", ".")
        own = {
            "number": f"{number:,}".replace(",", thousands) if marked else str(number),
            "decimal": f"{tenths // 10}{point}{tenths % 10}",
        }
        sides.append(sentence.format(**same, **own))
    return sides[0], sides[1]


def name(chance: random.Random) -> str:
    """A name that nobody has heard of."""
    ends = [*(chance.randint(0, 2) * [JOINTS]), ENDINGS]
    parts = [chance.choice(some.split()) for end in ends for some in (BEGINNINGS, MIDDLES, end)]
    word = "".join(parts).replace("-", "").capitalize()
    return f"{word} {name(chance)}" if chance.random() < 0.15 else word
