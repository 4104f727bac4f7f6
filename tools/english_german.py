"""Gather the open English–German text that a wider `en-de` learns from, and write its recipe beside it.

    apt-get download libreoffice-help-en-us libreoffice-help-de
    python tools/english_german.py OUT --packages DEBS
    clearformer train OUT/en-de.toml --start en-de --out runs/en-de-wide

Read are the folders of CLEARFORMER_DATA and the two packages of LibreOffice's help. Written are OUT/NAME.en and
OUT/NAME.de, line by line. What is not kept is counted.

| name | text | licence |
|---|---|---|
| tatoeba | everyday sentences, the training part of `tatoeba-en-de` | CC BY 2.0 |
| gnome | GNOME's user documentation | CC BY 3.0 |
| office | LibreOffice's help | MPL-2.0 |
| bible | every sixteenth verse | public domain |
| made | made names and numbers in sentences of tools/made_sentences.tsv | Apache-2.0 |

Every fortieth page of the help is held back as a whole: `dev-office` is from there. `dev-encyclopaedia` are sentences
of XQuAD (CC BY-SA 4.0), paragraphs of Wikipedia that people translated, never learned from; `dev` is the development
part of `tatoeba-en-de`. No sentence of any development or test part is learned from, on either side.
"""

import argparse
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from made_sentences import made
from open_text import MARKUP, Pair, by_chance, every, key, lines, office, table

# A pair is English, German.
SIDES = "en", "de"
WORDS = 40
BIBLE_SHARE = 16
MADE_TIMES = 700
HELD_PAGES = 40
HELD_SENTENCES = 300
SHARES = {"tatoeba": 1, "gnome": 2, "office": 1, "bible": 1, "made": 1}
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"“„(A-ZÄÖÜ0-9])")

RECIPE = """# Made by tools/english_german.py: the shipped `en-de` goes on to learn from wider text.
task = "translation"
name = "en-de-wide"

[data]
source_language = "en"
target_language = "de"
train_source = {sources}
train_target = {targets}
dev_source = "dev.en"
dev_target = "dev.de"
licence = "CC BY 3.0"
attribution = "{attribution}"
joint = true
max_length = 96

[data.vocabulary]
kind = "bpe"
vocab_size = 6000

[model]
preset = "small"
layers = 4
decoder_layers = 2
hidden_dim = 640

[model.norm]
place = "pre"

[model.dropout]
embedding = 0.1
attention = 0.0
activation = 0.0
residual = 0.1

[objective]
smoothing = 0.1

[training]
steps = {steps}
save_every = 250
validate_every = {validate_every}
batch_tokens = 2048
precision = "bfloat16"
seed = 1

[training.schedule]
kind = "cosine"
peak = 0.002
warmup = 30

[training.optimiser]
kind = "muon"
beta2 = 0.98
clip = 1.0

[use]
beam = 4

[scoring]
examples = 150
"""
ATTRIBUTION = (
    "trained on sentence pairs of tatoeba.org as collected by www.manythings.org/anki (CC BY 2.0); GNOME's user "
    "documentation by the GNOME project (CC BY 3.0); LibreOffice's help by The Document Foundation (MPL-2.0); World "
    "English Bible and Luther 1912 (public domain); made sentences by this project (Apache-2.0)"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--packages", type=Path, required=True, help="folder with the packages of LibreOffice's help")
    parser.add_argument("--steps", type=int, default=300)
    asked = parser.parse_args()
    data = Path(os.environ["CLEARFORMER_DATA"])
    asked.out.mkdir(parents=True, exist_ok=True)
    pages = sorted(office(asked.packages, "en-us", "de").items(), key=lambda page: by_chance(page[0]))
    held_pages = pages[::HELD_PAGES]
    learned = [pair for page in pages if page not in held_pages for pair in page[1]]
    held = write_held_back(asked.out, data, [pair for _, pairs in held_pages for pair in pairs])
    sources: dict[str, Callable[[], Iterator[Pair]]] = {
        "tatoeba": lambda: zip(*(lines(data / f"tatoeba-en-de/train.{side}.gz") for side in SIDES), strict=True),
        "gnome": lambda: table(data / "software/gnome-docs-and-games.en-de.tsv.gz", 1, 2, only="gnome-user-docs"),
        "office": lambda: iter(learned),
        "bible": lambda: every(table(data / "bible/web-luther1912-cuv.en-de-zh.tsv.gz", 1, 2), BIBLE_SHARE),
        "made": lambda: made("en", "de", times=MADE_TIMES),
    }
    for name, pairs in sources.items():
        keep(asked.out, name, pairs(), held, sentences=name != "made")
    names = [name for name, share in SHARES.items() for _ in range(share)]
    text = RECIPE.format(
        sources=json.dumps([f"{name}.en" for name in names]),
        targets=json.dumps([f"{name}.de" for name in names]),
        attribution=ATTRIBUTION,
        steps=asked.steps,
        validate_every=max(1, asked.steps // 3),
    )
    (asked.out / "en-de.toml").write_text(text, encoding="utf-8")


def write_held_back(out: Path, data: Path, help_pages: list[Pair]) -> set[str]:
    """Write the development parts; give what of them and of the test part may not be learned from."""
    parts = {
        "dev": list(zip(*(lines(data / f"tatoeba-en-de/val.{side}.gz") for side in SIDES), strict=True)),
        "dev-office": chosen(help_pages),
        "dev-encyclopaedia": chosen(list(parallel_sentences(data / "squad/xquad"))),
    }
    for name, pairs in parts.items():
        put(out, name, pairs)
    tests = [line for side in SIDES for line in lines(data / f"tatoeba-en-de/test.{side}.gz")]
    return {key(text) for text in (*tests, *(side for pairs in parts.values() for pair in pairs for side in pair))}


def chosen(paragraphs: list[Pair]) -> list[Pair]:
    """Some sentences that would be worth learning from, by chance but always the same."""
    pairs = [pair for one, other in paragraphs for pair in sentence_pairs((tidy(one), tidy(other)))]
    good = {pair for pair in pairs if problem(pair, set()) is None}
    long_enough = [pair for pair in good if len(pair[0].split()) >= 4]
    return sorted(long_enough, key=lambda pair: by_chance(pair[0] + pair[1]))[:HELD_SENTENCES]


def keep(out: Path, name: str, pairs: Iterator[Pair], held: set[str], *, sentences: bool) -> None:
    """One source, cleaned; every pair once."""
    left_out: Counter[str] = Counter()
    kept: dict[Pair, None] = {}
    for one, other in pairs:
        for pair in sentence_pairs((tidy(one), tidy(other))) if sentences else [(one, other)]:
            reason = problem(pair, held) if sentences else None
            if reason or pair in kept:
                left_out[reason or "there before"] += 1
            else:
                kept[pair] = None
    put(out, name, list(kept))
    why = ", ".join(f"{count:,} {reason}" for reason, count in left_out.most_common())
    print(f"{name}: {len(kept):,} pairs; left out: {why or 'none'}", file=sys.stderr)


def put(out: Path, name: str, pairs: list[Pair]) -> None:
    for side, language in enumerate(SIDES):
        text = "".join(f"{pair[side]}\n" for pair in pairs)
        (out / f"{name}.{language}").write_text(text, encoding="utf-8")


def tidy(text: str) -> str:
    return " ".join(text.split())


def problem(pair: Pair, held: set[str]) -> str | None:
    """Why a pair of sentences is not for learning; None if it is."""
    counts = [len(side.split()) for side in pair]
    if not all(re.search("[A-Za-zÄÖÜäöü]", side) for side in pair):
        return "without words"
    if max(counts) > WORDS:
        return "long"
    if any(MARKUP.search(side) for side in pair):
        return "with markup or code"
    if pair[0] == pair[1] and counts[0] > 2:
        return "not translated"
    if not 1 / 2.5 < (counts[0] + 3) / (counts[1] + 3) < 2.5:
        return "of unlike length"
    return "in a development or test part" if key(pair[0]) in held or key(pair[1]) in held else None


def sentence_pairs(pair: Pair) -> list[Pair]:
    """A paragraph sentence by sentence, where both sides have equally many; else the whole."""
    sides = [SENTENCE_END.split(side.strip()) for side in pair]
    return list(zip(*sides, strict=True)) if len(sides[0]) == len(sides[1]) else [pair]


def parallel_sentences(folder: Path) -> Iterator[Pair]:
    """Sentences of XQuAD's paragraphs of Wikipedia."""
    sides = [json.loads("".join(lines(folder / f"xquad.{language}.json.gz")))["data"] for language in SIDES]
    contexts = [[one["context"] for article in side for one in article["paragraphs"]] for side in sides]
    for pair in zip(*contexts, strict=True):
        found = sentence_pairs(pair)
        yield from found if len(found) > 1 else []


if __name__ == "__main__":
    main()
