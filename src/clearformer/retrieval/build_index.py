"""Build an index over files; a later build embeds only what has changed."""

import logging
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clearformer.folder.description import ModelFolder, open_folder, shipped_models
from clearformer.foundation import storage
from clearformer.foundation.locks import only_one
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.retrieval.bm25 import count_terms
from clearformer.retrieval.documents import UNITS, Document, OnLeftOut, Unit, find_files, read_documents
from clearformer.retrieval.index_folder import (
    IndexContent,
    IndexedModel,
    PackedTexts,
    digest,
    is_index,
    load_index,
    save_index,
)
from clearformer.retrieval.search_index import SearchIndex, open_embedder
from clearformer.retrieval.terms import document_terms
from clearformer.text.sentences import windows
from clearformer.text.unusable import UnusableTextError

if TYPE_CHECKING:
    from clearformer.inference.text_readers import Embedder

PORTION = 256  # windows between two reports
NAMED = 3  # files that are left out, in a summary
WORTH_SAYING = 30.0  # seconds of work that are announced

Known = dict[bytes, NDArray[np.float32]]  # vectors by the checksum of their text

log = logging.getLogger(__name__)


def build_index(
    files: Iterable[str | Path],
    folder: str | Path,
    *,
    model: str | Path | None = None,
    unit: Unit = "passage",
    on_progress: OnProgress = unwatched,
    on_left_out: OnLeftOut | None = None,
) -> SearchIndex:
    """Build an index over the lines, passages or whole texts of files and folders, and keep it at `folder`.

    model: an encoder, for search by meaning; without one, words alone are found. An index that is there already is
    replaced when the new one is complete, and what both have in common is not embedded again. on_left_out: told of each
    file that is empty or no text; by default these are counted, and the first are named, in one warning.
    """
    folder = Path(folder)
    if unit not in UNITS:
        raise ValueError(f"one result is a {', a '.join(UNITS[:-1])} or a {UNITS[-1]}, not {unit!r}")
    if folder.exists() and not is_index(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is there and is not a search index; name a new folder")
    opened = None if model is None else open_folder(model)
    left: list[str] = []
    found = find_files(files, without=folder, on_left_out=left.append)
    documents = list(read_documents(found, unit, left.append))
    if on_left_out is not None:
        for reason in left:
            on_left_out(reason)
    if not documents:
        first = f", the first of them because {left[0]}" if left else ""
        raise ValueError(f"there is no text to index in {_files(len(found))}{first}")
    if on_left_out is None:
        for line in left_out_lines(left):
            log.warning("%s", line)
    with only_one(folder.with_name(f".{folder.name}.lock")):
        storage.sweep(folder.parent, folder.name)
        content, embedder = _index(documents, opened, unit, _known(folder, opened), on_progress)
        save_index(content, folder)
    return SearchIndex(load_index(folder), embedder)


def left_out_lines(reasons: Sequence[str]) -> list[str]:
    """How many files were left out, and why the first of them were."""
    if not reasons:
        return []
    more = len(reasons) - NAMED
    lines = [f"{_files(len(reasons))} {'was' if len(reasons) == 1 else 'were'} left out:"]
    lines += [f"  {reason}" for reason in reasons[:NAMED]]
    return [*lines, f"  … and {more:,} more"] if more > 0 else lines


def _files(count: int) -> str:
    return f"{count:,} {'file' if count == 1 else 'files'}"


def index_documents(
    documents: Sequence[Document], unit: Unit = "passage", model: ModelFolder | None = None
) -> SearchIndex:
    """An index in memory."""
    return SearchIndex(*_index(documents, model, unit, {}, unwatched))


def _index(
    documents: Sequence[Document], model: ModelFolder | None, unit: Unit, known: Known, on_progress: OnProgress
) -> "tuple[IndexContent, Embedder | None]":
    files = list(dict.fromkeys(document.file for document in documents))
    numbers = {name: number for number, name in enumerate(files)}
    cut = [(owner, *span) for owner, one in enumerate(documents) for span in windows(one.text)]
    spans = [documents[owner].text[start:end] for owner, start, end in cut]
    digests = np.stack([digest(span) for span in spans])
    embedder, vectors = None, np.zeros((0, 0), dtype=np.float32)
    if model is not None:
        embedder = open_embedder(model)
        vectors = _embed(embedder, spans, digests, known, on_progress)
    content = IndexContent(
        unit=unit,
        model=None if model is None else IndexedModel(name=_name(model), fingerprint=model.fingerprint),
        files=files,
        texts=PackedTexts.of(document.text for document in documents),
        documents=np.array([(numbers[one.file], one.line, one.start) for one in documents], dtype=np.int64),
        windows=np.array(cut, dtype=np.int64),
        vectors=vectors,
        digests=digests,
        postings=count_terms(document_terms(document.text) for document in documents),
    )
    return content, embedder


def _embed(
    embedder: "Embedder", spans: Sequence[str], digests: NDArray[np.uint8], known: Known, on_progress: OnProgress
) -> NDArray[np.float32]:
    """One row per window; equal texts, and those that the index had before, are embedded once."""
    wanted = {key.tobytes(): text for key, text in zip(digests, spans, strict=True) if key.tobytes() not in known}
    known = {key.tobytes(): known[key.tobytes()] for key in digests if key.tobytes() in known}
    if known:
        log.info("the vectors of %s windows are reused; %s are new", f"{len(known):,}", f"{len(wanted):,}")
    keys = list(wanted)
    begun, letters = time.monotonic(), sum(map(len, wanted.values()))
    for start in range(0, len(keys), PORTION):
        part = keys[start : start + PORTION]
        known.update(zip(part, _vectors(embedder, [wanted[key] for key in part]), strict=True))
        if start == 0:
            _announce(time.monotonic() - begun, sum(len(wanted[key]) for key in part), letters)
        on_progress(start + len(part), len(keys))
    return np.stack([known[key.tobytes()] for key in digests])


def _vectors(embedder: "Embedder", texts: list[str]) -> NDArray[np.float32]:
    """One row per text; one in which the model sees nothing, such as a line of control characters, is near nothing."""
    seen = list(range(len(texts)))
    while seen:
        try:
            made = np.zeros((len(texts), embedder.bundle.config.dim), dtype=np.float32)
            purpose = embedder.purpose("document", "passage", "corpus")
            made[seen] = embedder.embed([texts[number] for number in seen], prompt=purpose).numpy()
        except UnusableTextError as error:
            del seen[error.number - 1]
        else:
            return made
    return np.zeros((len(texts), embedder.bundle.config.dim), dtype=np.float32)


def _announce(seconds: float, done: int, letters: int) -> None:
    """Say how long it will take, by what the first portion took."""
    left = seconds * (letters / max(1, done) - 1)
    if left > WORTH_SAYING:
        duration = f"{left / 60:.0f} minutes" if left >= 90 else f"{left:.0f} seconds"
        log.info("embedding %s characters takes about %s", f"{letters:,}", duration)


def _known(folder: Path, model: ModelFolder | None) -> Known:
    """The vectors of the index that is there, if the same model made them."""
    if model is None or not is_index(folder):
        return {}
    try:
        old = load_index(folder)
    except ValueError as error:
        log.warning("nothing is reused: %s", error)
        return {}
    if old.model is None or old.model.fingerprint != model.fingerprint:
        return {}
    return {key.tobytes(): np.array(vector) for key, vector in zip(old.digests, old.vectors, strict=True)}


def _name(model: ModelFolder) -> str:
    """What finds the model again from any folder."""
    path = model.path.resolve()
    return path.name if path.parent == shipped_models().resolve() else str(path)
