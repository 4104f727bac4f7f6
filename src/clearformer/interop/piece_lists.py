"""vocab.json and merges.txt: the pieces of a byte-pair vocabulary, and how they came about. Both are checked."""

from collections.abc import Mapping
from pathlib import Path

from clearformer.interop.foreign_files import read_json, read_text

MOST_MERGES = 1_000_000


def numbered(path: Path) -> dict[str, int]:
    """vocab.json: each piece with its number."""
    ids = read_json(path) if path.is_file() else None
    if ids is None:
        raise ValueError(f"{path} is missing")
    for piece, number in ids.items():
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 1 << 24:
            raise ValueError(f"{path}: {piece!r} must have a whole number, not {number!r}")
    return ids


def merges(path: Path, vocabulary: Mapping[str, int]) -> list[tuple[str, str]]:
    """merges.txt: which two pieces become one, in order."""
    found = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip() or line.startswith("#version"):
            continue
        left, _, right = line.rstrip("\r").partition(" ")
        if not right or left not in vocabulary or right not in vocabulary or left + right not in vocabulary:
            raise ValueError(f"{path}, line {number}: {line[:60]!r} does not merge two pieces of vocab.json")
        found.append((left, right))
        if len(found) > MOST_MERGES:
            raise ValueError(f"{path} has more than {MOST_MERGES:,} lines; refused")
    return found
