"""Get a known corpus: from a local copy, from the cache, or from its address; verified in each case."""

from __future__ import annotations

import gzip
import json
import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from clearformer.data.catalogue.corpora import Corpus, CorpusFile, find_corpus
from clearformer.data.catalogue.download import DownloadConfig, Expected, download
from clearformer.data.catalogue.unpack import unpack_tar
from clearformer.data.file_facts import sha256_of
from clearformer.foundation.locks import only_one
from clearformer.foundation.machine import cache_folder
from clearformer.foundation.progress import OnProgress, unwatched

log = logging.getLogger(__name__)


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
        problem = _problem_with(file, folder)
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
        for file in corpus.files:
            if _problem_with(file, folder) is not None:
                _bring(corpus, file, folder, config, on_bytes)
            before += file.size or 0
            on_bytes(0)
        _write_source_note(corpus, folder)
    return folder


def _bring(
    corpus: Corpus, file: CorpusFile, folder: Path, config: DownloadConfig, on_bytes: Callable[[int], None]
) -> None:
    if file.url is None:
        raise FetchError(
            f"{corpus.name}/{file.path} is prepared from {corpus.origin}, and no server offers it in this form: "
            f"put a copy into a folder {corpus.within or corpus.name} and let CLEARFORMER_DATA point to the "
            "folder that has it."
        )
    final = folder / file.path
    if file.form == "gzip":
        _bring_gzip(file, file.url, final, config, on_bytes)
        return
    download(file.url, final, expected=Expected(size=file.size, sha256=file.sha256), config=config, on_bytes=on_bytes)
    if file.form == "archive":
        unpack_tar(final, folder, members=file.members, max_bytes=4 * config.max_bytes)
        _marker(file, folder).write_text(json.dumps({"sha256": file.sha256, "members": file.members}), encoding="utf-8")
        final.unlink()  # the members are what is used; the archive would double the space


def _bring_gzip(
    file: CorpusFile, url: str, final: Path, config: DownloadConfig, on_bytes: Callable[[int], None]
) -> None:
    """Served packed or plain, kept packed. What is known is the content, so a packed file is checked after it came."""
    arrived = final.with_name(final.name + ".arrived")
    served_packed = url.endswith(".gz")
    expected = Expected() if served_packed else Expected(size=file.size, sha256=file.sha256)
    download(url, arrived, expected=expected, config=config, on_bytes=on_bytes)
    if not served_packed:
        packed = final.with_name(final.name + ".packed")
        with arrived.open("rb") as plain, gzip.open(packed, "wb") as target:
            shutil.copyfileobj(plain, target, 1 << 20)
        packed.replace(arrived)
    problem = _wrong_content(file, arrived)
    if problem is not None:
        arrived.unlink()
        raise FetchError(f"{url}: {problem}, so it was not kept: the file has changed; report the address.")
    arrived.replace(final)


def _problem_with(file: CorpusFile, folder: Path) -> str | None:
    """What is wrong with the copy of one file, or None when it is right as far as anybody can tell."""
    if file.form == "archive":
        return _problem_with_members(file, folder)
    path = folder / file.path
    return _wrong_content(file, path) if path.is_file() else f"{path} is missing"


def _problem_with_members(file: CorpusFile, folder: Path) -> str | None:
    missing = [member for member in file.members if not (folder / member).is_file()]
    if missing:
        return f"{folder / missing[0]} is missing"
    try:
        came_from = json.loads(_marker(file, folder).read_text(encoding="utf-8")).get("sha256")
    except (OSError, ValueError):
        return f"{folder / file.path} was not unpacked to the end"
    return None if came_from == file.sha256 else f"{folder / file.path} was another archive when it was unpacked"


def _wrong_content(file: CorpusFile, path: Path) -> str | None:
    """Compare size first, because it is known at once, then the checksum."""
    if file.form == "file" and file.size is not None and path.stat().st_size != file.size:
        return f"{path} has {path.stat().st_size:,} bytes where the catalogue says {file.size:,}"
    if file.sha256 is None:
        return None
    try:
        with gzip.open(path) if file.form == "gzip" else path.open("rb") as content:
            found = sha256_of(content)
    except (OSError, EOFError) as problem:
        return f"{path} cannot be read ({problem})"
    return None if found == file.sha256 else f"{path} has SHA-256 {found} where the catalogue says {file.sha256}"


def _marker(file: CorpusFile, folder: Path) -> Path:
    return folder / f"{file.path}.unpacked.json"


def _write_source_note(corpus: Corpus, folder: Path) -> None:
    """Licence and attribution stay with the files, wherever the folder is copied."""
    note = (
        f"{corpus.title}\nSource: {corpus.origin}\nLicence: {corpus.licence}\n"
        f"Attribution: {corpus.attribution}\nPlease cite: {corpus.citation}\n"
    )
    (folder / "SOURCE.txt").write_text(note, encoding="utf-8")
