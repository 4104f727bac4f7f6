"""Get a known corpus: from a local copy, from the cache, or from its origin; verified in each case."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from clearformer.data.catalogue.copies import problem_with
from clearformer.data.catalogue.corpora import Corpus, CorpusFile, find_corpus
from clearformer.data.catalogue.origin import OriginError, bring
from clearformer.foundation.download import DownloadConfig, DownloadError
from clearformer.foundation.locks import only_one
from clearformer.foundation.machine import cache_folder
from clearformer.foundation.progress import OnProgress, unwatched

ORIGIN = ".origin"  # what was served for files that are made of it; gone when all of them are


class FetchError(Exception):
    """A corpus could not be had; the message is one sentence that says why and what to do."""


def locate(name: str) -> Path | None:
    """The verified copy that ships with the package, or `$CLEARFORMER_DATA/<name>`; None where there is neither."""
    corpus = find_corpus(name)
    if corpus.ships:
        return _verified(corpus, corpus.folder, "install clearformer again")
    root = os.environ.get("CLEARFORMER_DATA")
    folder = Path(root) / (corpus.within or name) if root else None
    if folder is None or not folder.is_dir():
        return None
    return _verified(corpus, folder, "replace this copy, or unset CLEARFORMER_DATA to use another one")


def _verified(corpus: Corpus, folder: Path, remedy: str) -> Path:
    for file in corpus.files:
        problem = problem_with(file, folder)
        if problem is not None:
            raise FetchError(f"{problem}: {remedy}.")
    return folder


def get(
    name: str,
    cache_dir: Path | None = None,
    *,
    config: DownloadConfig | None = None,
    on_progress: OnProgress = unwatched,
) -> Path:
    """The folder of a known corpus; what is not there yet is downloaded, once, into the cache."""
    corpus = find_corpus(name)
    return locate(name) or fetch(corpus, cache_dir or cache_folder(), config=config, on_progress=on_progress)


def fetch(
    corpus: Corpus,
    cache_dir: Path,
    *,
    config: DownloadConfig | None = None,
    on_progress: OnProgress = unwatched,
) -> Path:
    """Make `cache_dir/<name>` complete; only one process at a time does so, the others wait and find it done."""
    config = config or DownloadConfig()
    folder = cache_dir / corpus.name
    before = 0  # bytes of the files that are complete

    def on_bytes(have: int) -> None:
        on_progress(before + have, corpus.size)

    with only_one(cache_dir / f".{corpus.name}.lock"):
        wanted = [file for file in corpus.files if problem_with(file, folder) is not None]
        _refuse_without_address(corpus, wanted)
        for file in corpus.files:
            if file in wanted:
                _bring(corpus, file, folder, config, on_bytes)
            before += file.size or 0
            on_bytes(0)
        shutil.rmtree(folder / ORIGIN, ignore_errors=True)
        _write_source_note(corpus, folder)
    return folder


def _refuse_without_address(corpus: Corpus, wanted: Sequence[CorpusFile]) -> None:
    """Say so before anything else of the corpus is downloaded in vain."""
    for file in wanted:
        if not file.urls:
            where = f"ask for it at {corpus.ask}, " if corpus.ask else ""
            raise FetchError(
                f"{corpus.name}/{file.path} is prepared from {corpus.origin}, and no server offers it in this form: "
                f"{where}{_how_to_copy(corpus)}"
            )


def _bring(
    corpus: Corpus, file: CorpusFile, folder: Path, config: DownloadConfig, on_bytes: Callable[[int], None]
) -> None:
    try:
        bring(file, folder, folder / ORIGIN, config, on_bytes)
    except (DownloadError, OriginError) as problem:
        if file.unseen:
            raise FetchError(
                f"{corpus.name}/{file.path} did not come out of its origin, which could not be tried before "
                f"({str(problem).rstrip('.')}): {_how_to_copy(corpus)}"
            ) from problem
        if isinstance(problem, OriginError):
            raise FetchError(str(problem)) from problem
        raise


def _how_to_copy(corpus: Corpus) -> str:
    folder = corpus.within or corpus.name
    return f"put a copy into a folder {folder} and let CLEARFORMER_DATA point to the folder that has it."


def _write_source_note(corpus: Corpus, folder: Path) -> None:
    """Licence and attribution stay with the files, wherever the folder is copied."""
    note = (
        f"{corpus.title}\nSource: {corpus.origin}\nLicence: {corpus.licence}\n"
        f"Attribution: {corpus.attribution}\nPlease cite: {corpus.citation}\n"
    )
    (folder / "SOURCE.txt").write_text(note, encoding="utf-8")
