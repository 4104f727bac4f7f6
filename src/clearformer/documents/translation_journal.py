"""The sentences of a document that have been translated, on disk beside the output, so that nothing is done twice.

One JSON line per sentence, after a first line that says what they were translated with. A line that a kill cut off is
dropped; a journal of another model or other settings is not used. A finished document takes its journal away.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from clearformer.documents.segments import Fragment
from clearformer.documents.sentence_steps import Made

ENDING = ".journal"
FORMAT = 1
Key = tuple[Fragment, ...]


class Journal:
    """A journal at a path. made_with: what has to be the same for its sentences to be used."""

    def __init__(self, path: Path, made_with: dict[str, Any]) -> None:
        self.path, self._head = path, {"format": FORMAT, **made_with}
        self.other = False  # whether there was one that could not be used

    def read(self) -> dict[Key, Made]:
        """What was translated before; a journal of something else is begun anew."""
        lines = self._lines()
        if not lines or lines[0] != self._head:
            self.other = bool(lines)
            return {}
        return {_pieces(line["sentence"]): _made(line) for line in lines[1:]}

    def begin(self, known: dict[Key, Made]) -> None:
        """Write what is known; from here on lines are added."""
        aside = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        with aside.open("w", encoding="utf-8", newline="\n") as file:
            file.write(_line(self._head))
            file.writelines(_line(_plain(key, made)) for key, made in known.items())
        aside.replace(self.path)

    def add(self, made: Iterable[tuple[Key, Made]]) -> None:
        """Keep these sentences, whatever happens next."""
        with self.path.open("a", encoding="utf-8", newline="\n") as file:
            file.writelines(_line(_plain(key, one)) for key, one in made)
            file.flush()
            os.fsync(file.fileno())

    def discard(self) -> None:
        """The document is finished."""
        self.path.unlink(missing_ok=True)

    def _lines(self) -> list[Any]:
        if not self.path.is_file():
            return []
        found = []
        for line in self.path.read_bytes().split(b"\n")[:-1]:  # behind the last line end is nothing, or half a line
            try:
                found.append(json.loads(line))
            except ValueError:
                break
        return found


def journal_beside(output: Path) -> Path:
    """Where the journal of an output lies."""
    return output.with_name(output.name + ENDING)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def _plain(key: Key, made: Made) -> dict[str, Any]:
    return {
        "sentence": [[piece.kind, piece.text] for piece in key],
        "made": [[piece.kind, piece.text] for piece in made.pieces],
        "confidence": made.confidence,
        "in_parts": made.in_parts,
    }


def _pieces(plain: list[list[Any]]) -> Key:
    return tuple(Fragment(text, kind) for kind, text in plain)


def _made(line: dict[str, Any]) -> Made:
    return Made(_pieces(line["made"]), line["confidence"], line["in_parts"])
