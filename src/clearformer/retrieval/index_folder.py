"""A search index on disk: one folder, whole or absent, that holds numbers and text and no code.

index.json       what one result is, the model's fingerprint, the settings, the names of the files
texts.txt        the texts of all documents, one behind the other; texts.npy: where each ends, in bytes
documents.npy    for each document: its file, its line, its first character there
windows.npy      for each window: its document, its first character there, the character behind its last
vectors.npy      for each window: its vector, float32, read from the disk as it is needed; none without a model
digests.npy      for each window: the checksum of its text, by which a later build knows it again
terms.txt        the terms, one per line; postings.npy, counts.npy, starts.npy, lengths.npy: see bm25.py
manifest.json    SHA-256 of each of them
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearformer.foundation import storage
from clearformer.foundation.storage import DamagedError
from clearformer.retrieval.bm25 import K1, B, Postings
from clearformer.retrieval.documents import UNITS, Document, Unit

FORMAT = 1
FACTS = "index.json"
DIGEST = 16  # bytes of a window's checksum that are kept
_ARRAYS: dict[str, str] = {  # type and dimensions
    "texts": "i8 1", "documents": "i8 2", "windows": "i8 2", "vectors": "f4 2", "digests": "u1 2",
    "starts": "i8 1", "postings": "i4 1", "counts": "i4 1", "lengths": "i4 1",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class IndexedModel:
    """The model that made the vectors: how it was named, and what its folder held."""

    name: str
    fingerprint: str


@dataclass(frozen=True, kw_only=True, eq=False)
class IndexContent:
    """An index in memory. N documents in W windows of D numbers each. model: None where there are no vectors."""

    unit: Unit
    model: IndexedModel | None
    files: Sequence[str]
    texts: "PackedTexts"
    documents: NDArray[np.int64]  # N 3: file, line, start
    windows: NDArray[np.int64]  # W 3: document, start, end; in the order of documents
    vectors: NDArray[np.float32]  # W D
    digests: NDArray[np.uint8]  # W 16
    postings: Postings

    def document(self, number: int) -> Document:
        """A document as it was read."""
        file, line, start = (int(one) for one in self.documents[number])
        return Document(self.texts[number], self.files[file], line, start)


class PackedTexts(Sequence[str]):
    """Many texts as one run of bytes, read where they are needed."""

    def __init__(self, raw: bytes | NDArray[np.uint8], ends: NDArray[np.int64]) -> None:
        self.raw, self.ends = raw, ends

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, number: Any) -> Any:
        begin = int(self.ends[number - 1]) if number else 0
        return bytes(self.raw[begin : int(self.ends[number])]).decode("utf-8")

    @classmethod
    def of(cls, texts: Iterable[str]) -> "PackedTexts":
        """PackedTexts that are in memory."""
        encoded = [text.encode("utf-8") for text in texts]
        return cls(b"".join(encoded), np.cumsum([len(one) for one in encoded], dtype=np.int64))


def digest(text: str) -> NDArray[np.uint8]:
    """What a window's text is known by."""
    return np.frombuffer(hashlib.sha256(text.encode("utf-8")).digest()[:DIGEST], dtype=np.uint8)


def save_index(content: IndexContent, folder: Path) -> None:
    """Write an index; an older one at this place is replaced when the new one is complete."""
    model = content.model
    facts = {
        "format": FORMAT,
        "unit": content.unit,
        "model": None if model is None else {"name": model.name, "fingerprint": model.fingerprint},
        "vectors": {"type": "float32", "dim": int(content.vectors.shape[1])},
        "bm25": {"k1": K1, "b": B},
        "files": list(content.files),
    }
    postings = content.postings
    arrays = {"texts": content.texts.ends, "postings": postings.documents, "counts": postings.counts}
    arrays |= {name: getattr(postings, name) for name in ("starts", "lengths")}
    arrays |= {name: getattr(content, name) for name in ("documents", "windows", "vectors", "digests")}
    with storage.new_folder(folder) as aside:
        storage.write_json(aside / FACTS, facts)
        (aside / "texts.txt").write_bytes(bytes(content.texts.raw))
        (aside / "terms.txt").write_text("".join(f"{term}\n" for term in postings.terms), "utf-8", newline="\n")
        for name, array in arrays.items():
            np.save(aside / f"{name}.npy", np.ascontiguousarray(array), allow_pickle=False)


def is_index(folder: Path) -> bool:
    """Whether a folder was written by `save_index`, whole or not."""
    return (folder / FACTS).is_file()


def load_index(folder: Path) -> IndexContent:
    """Open an index after checking every file against the manifest."""
    if not is_index(folder):
        raise ValueError(
            f"{folder} is not a search index; make one with `clearformer search build FILES --index {folder}`"
        )
    try:
        storage.verify(folder)
        return _read(folder)
    except DamagedError as error:
        what = str(error).removesuffix("; get the folder anew")
        raise DamagedError(f"{what}; build the index again") from error


def _read(folder: Path) -> IndexContent:
    facts = _facts(folder / FACTS)
    arrays = {name: _array(folder / f"{name}.npy", told) for name, told in _ARRAYS.items()}
    try:
        terms = (folder / "terms.txt").read_text("utf-8").split("\n")[:-1]
        raw = np.memmap(folder / "texts.txt", dtype=np.uint8, mode="r") if len(arrays["texts"]) else b""
    except (OSError, ValueError) as error:
        raise DamagedError(f"{folder} cannot be read ({error})") from error
    made = IndexContent(
        unit=facts["unit"],
        model=None if facts["model"] is None else IndexedModel(**facts["model"]),
        files=facts["files"],
        texts=PackedTexts(raw, arrays["texts"]),
        **{name: arrays[name] for name in ("documents", "windows", "vectors", "digests")},
        postings=Postings(
            terms=terms,
            documents=arrays["postings"],
            **{name: arrays[name] for name in ("starts", "counts", "lengths")},
        ),
    )
    _check(made, folder)
    return made


def _facts(path: Path) -> dict[str, Any]:
    try:
        facts = storage.read_json(path)
        if facts["format"] != FORMAT:
            raise DamagedError(f"{path} has format {facts['format']!r}, but this version reads {FORMAT}")
        used = {"k1": K1, "b": B}
        model = facts["model"]
        fits = facts["unit"] in UNITS and facts["bm25"] == used and all(isinstance(one, str) for one in facts["files"])
        if not fits or not (model is None or {type(model["name"]), type(model["fingerprint"])} == {str}):
            raise KeyError
        if model is not None and set(model) != {"name", "fingerprint"}:
            raise KeyError
    except DamagedError:
        raise
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise DamagedError(f"{path} does not describe an index that this version reads") from error
    return dict(facts)


def _array(path: Path, told: str) -> NDArray[Any]:
    kind, dimensions = told.split()
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DamagedError(f"{path} is not an array that can be read") from error
    if array.dtype != np.dtype(kind) or array.ndim != int(dimensions):
        raise DamagedError(
            f"{path} has numbers of type {array.dtype} in {array.ndim} dimensions, not what belongs there"
        )
    return array


def _check(content: IndexContent, folder: Path) -> None:
    """Refuse numbers that lead outside: a manifest proves what was written, not that it made sense."""
    count, windows, postings = len(content.texts), content.windows, content.postings
    size = len(content.texts.raw)
    right = (
        content.documents.shape == (count, 3) and windows.shape[1:] == (3,) and len(postings.lengths) == count
        and _rising(content.texts.ends, size) and _within(content.documents[:, 0], len(content.files))
        and _within(windows[:, 0], count) and bool(np.all(np.diff(windows[:, 0]) >= 0))
        and len(np.unique(windows[:, 0])) == count  # every document has a window
        and len(content.digests) == len(windows) and content.digests.shape[1] == DIGEST
        and len(content.vectors) == (0 if content.model is None else len(windows))
        and len(postings.starts) == len(postings.terms) + 1 and _rising(postings.starts, len(postings.documents))
        and len(postings.counts) == len(postings.documents) and _within(postings.documents, count)
    )  # fmt: skip
    if not right:
        raise DamagedError(f"{folder} has numbers that do not fit together")


def _within(numbers: NDArray[Any], most: int) -> bool:
    return not len(numbers) or (int(numbers.min()) >= 0 and int(numbers.max()) < most)


def _rising(ends: NDArray[Any], total: int) -> bool:
    """Ends of parts that lie one behind the other and make up the whole."""
    return bool(np.all(np.diff(ends) >= 0)) and (not len(ends) or (int(ends[0]) >= 0 and int(ends[-1]) == total))
