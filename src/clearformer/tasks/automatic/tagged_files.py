"""From a CoNLL file to a tagger: every choice that a run needs, each with its reason."""

import math
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from clearformer.data.class_split import hold_out_by_class
from clearformer.data.entity_tags import bio_labels
from clearformer.data.readers.conll import ConllError, TaggedSentence, looks_like_conll, read_conll
from clearformer.tasks.automatic.encoder_recipe import EncoderPlan, EncoderSize, encoder_recipe
from clearformer.tasks.automatic.fine_tuning import published_start
from clearformer.tasks.automatic.tag_doctor import TagReport, examine_tags
from clearformer.tasks.task import Automatic, Choice, Chosen

ENDINGS = (".conll", ".bio", ".iob", ".iob2", ".bmes", ".iobes")
FEWEST = 20  # sentences; below this there is nothing to learn from and nothing to hold out
HELD_OUT = 0.1  # of the sentences, for development and for the test
SINGLE = 0.9  # share of words of one character, from which on words are characters


_SIZES = (
    EncoderSize(up_to=10_000, vocab_size=1_000, layers=2, dim=64, dropout=0.3, peak=2e-3),
    EncoderSize(up_to=150_000, vocab_size=4_000, layers=2, dim=192, dropout=0.2, peak=1e-3),
    EncoderSize(up_to=math.inf, vocab_size=8_000, layers=3, dim=192, dropout=0.2, peak=1e-3),
)


def recognise(files: Sequence[Path]) -> str | None:
    """One CoNLL file."""
    if len(files) != 1 or not files[0].is_file():
        return None
    if not files[0].name.lower().removesuffix(".gz").endswith(ENDINGS) and not looks_like_conll(files[0]):
        return None
    rows = list(islice(read_conll(files[0], illegal="repair"), 1000))
    kinds = [label[2:] for label in bio_labels([tag[2:] for row in rows for tag in row.tags if tag != "O"])[1::2]]
    return f"words with tags: {', '.join(kinds[:8]) or 'no entities'}" + (" and more" if len(kinds) > 8 else "")


def examine(files: Sequence[Path]) -> TagReport:
    """What is wrong with a CoNLL file."""
    return examine_tags(files[0], list(read_conll(files[0], illegal="repair")))


def choose(files: Sequence[Path], out: Path) -> Chosen:
    """A recipe for a file; a tenth of its sentences is held out for development, and a tenth for the test."""
    [path] = files
    rows = list(read_conll(path, illegal="repair"))
    if len(rows) < FEWEST:
        raise ConllError(f"{path} has {len(rows)} sentences, but at least {FEWEST} are needed; add some")
    report = examine_tags(path, rows)
    if report.fatal:
        raise ConllError(f"{path} has no entities, so there is nothing to learn; tag some")
    parts = _split(rows)
    _write(parts, out / "data")
    recipe, choices = from_rows(parts["train"], name=run_name(files))
    held = Choice(
        what="held out",
        value=f"{len(parts['dev']):,} sentences for development, {len(parts['test']):,} for the test",
        reason="a tenth each, with and without entities as in the whole; no sentence is in two parts",
    )
    types = Choice(
        what="entities",
        value=", ".join(f"{kind} ({count:,})" for kind, count in list(report.kinds.items())[:10]),
        reason=f"{report.without:,} of {report.sentences:,} sentences have none",
    )
    repaired = sum(len(row.repaired) for row in rows)
    mended = Choice(what="repaired", value=f"{repaired:,} lines", reason="an I- that continues nothing begins a name")
    said = [held, types, *([mended] if repaired else []), *choices]
    start = published_start(" ".join(row.words) for row in parts["train"])
    # What a vocabulary without capitals cannot tell the model, the shapes of words do.
    return Chosen(recipe=recipe, choices=said, report=report.to_text(), start=start, without_capitals={"shapes": True})


def _split(rows: Sequence[TaggedSentence]) -> dict[str, list[TaggedSentence]]:
    def held(some: Sequence[TaggedSentence], share: float) -> list[bool]:
        named = ["without" if set(row.tags) == {"O"} else "with" for row in some]
        return hold_out_by_class([row.words for row in some], named, share=share)

    out = held(rows, 2 * HELD_OUT)
    aside = [row for row, is_out in zip(rows, out, strict=True) if is_out]
    dev = held(aside, 0.5)
    return {
        "train": [row for row, is_out in zip(rows, out, strict=True) if not is_out],
        "dev": [row for row, in_dev in zip(aside, dev, strict=True) if in_dev],
        "test": [row for row, in_dev in zip(aside, dev, strict=True) if not in_dev],
    }


def _write(parts: dict[str, list[TaggedSentence]], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in parts.items():
        lines = (f"{word}\t{tag}\n" for row in rows for word, tag in [*zip(row.words, row.tags, strict=True), ("", "")])
        text = "".join("\n" if line == "\t\n" else line for line in lines)
        (folder / f"{name}.conll").write_text(text, encoding="utf-8", newline="\n")


def from_rows(rows: Sequence[TaggedSentence], *, name: str) -> tuple[dict[str, Any], list[Choice]]:
    """A recipe for these training sentences, and a reason for each choice."""
    words = sum(len(row.words) for row in rows)
    size = next(size for size in _SIZES if words <= size.up_to)
    single = sum(len(word) == 1 for row in rows for word in row.words) > SINGLE * words
    lengths = sorted(len(row.words) for row in rows)
    usual = lengths[int(0.98 * (len(lengths) - 1))] * (1 if single else 2)
    length = min(256, max(32, 8 * math.ceil((usual + 2) / 8)))
    tokens = words * (1.0 if single else 1.5)
    batch = 2048 if tokens > 50_000 else 1024
    passes = min(40.0, max(4.0, 33 * math.sqrt(100_000 / words)))
    labels = bio_labels([tag[2:] for row in rows for tag in row.tags if tag != "O"])
    return encoder_recipe(
        EncoderPlan(
            task="tagging",
            name=name,
            size=size,
            data={
                "train": "data/train.conll", "dev": "data/dev.conll", "test": "data/test.conll", "illegal": "repair",
                "words": "characters" if single else "spaced", "word_dropout": 0.1,
            },
            head={"kind": "tags", "labels": len(labels)},
            model={"head": {"dropout": 0.2}},
            unspaced=single,
            length=length,
            steps=max(200, math.ceil(tokens * passes / batch / 50) * 50),
            batch=batch,
            passes=passes,
            what="sentences",
            why={
                "vocabulary": f"{words:,} words show each piece often enough",
                "length": "98 of 100 sentences fit; longer ones in windows",
                "model": "as large as this much text can fill and an ordinary computer can train",
            },
        )
    )  # fmt: skip


def run_name(files: Sequence[Path]) -> str:
    """names.conll makes names."""
    return files[0].name.partition(".")[0] or "tags"


def example(run: Path) -> str:
    """The shortest sentence of the test part that has an entity, as running text."""
    rows = list(read_conll(run / "data" / "test.conll", illegal="repair"))
    named = [row for row in rows if set(row.tags) != {"O"}] or rows
    words = min((row.words for row in named), key=len)
    return ("" if all(len(word) == 1 for word in words) else " ").join(words)


AUTOMATIC = Automatic(recognise=recognise, choose=choose, examine=examine, name=run_name, example=example)
