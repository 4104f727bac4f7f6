"""A classification that is made from any text: a sentence without its last mark; was it a question? A text and a word
as its label, so that whatever writes can classify, too.
"""

import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path

ASKED, TOLD = "question", "statement"
HELD = 1000  # sentences that nothing is learned from


def unmarked_sentences(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Sentences in lower case without marks at their end, and which they were: as many statements as questions."""
    owed = 0  # statements to come
    for line in lines:
        text, asked = line.lower().rstrip(" .!?\"'"), "?" in line
        if asked:
            owed += 1
        elif owed:
            owed -= 1
        else:
            continue
        yield text, ASKED if asked else TOLD


def write_unmarked(source: Path, folder: Path) -> dict[str, Path]:
    """The files of texts and labels that a text's lines give, if they are not there yet; the last ones are for judging.

    By the names that a recipe has for them.
    """
    files = {f"{part}_{side}": folder / f"{part}.{side}" for part in ("train", "dev") for side in ("source", "target")}
    if not all(path.exists() for path in files.values()):
        folder.mkdir(parents=True, exist_ok=True)
        with gzip.open(source, "rt", encoding="utf-8") as file:
            made = list(unmarked_sentences(file.read().splitlines()))
        for part, rows in (("train", made[:-HELD]), ("dev", made[-HELD:])):
            for side, column in (("source", 0), ("target", 1)):
                files[f"{part}_{side}"].write_text("".join(f"{row[column]}\n" for row in rows), encoding="utf-8")
    return files
