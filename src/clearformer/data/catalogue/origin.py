"""One file of a corpus from its origin: fetched, prepared where it is served in another form, checked, then named."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from clearformer.data.catalogue.copies import marker, wrong_content
from clearformer.data.catalogue.corpora import CorpusFile
from clearformer.data.catalogue.prepare import MAX_BYTES, PrepareError, prepare
from clearformer.data.catalogue.unpack import unpack_tar
from clearformer.foundation.download import DownloadConfig, Expected, download


class OriginError(Exception):
    """What an origin served is not, or does not give, the catalogued file; the message is one sentence."""


def bring(
    file: CorpusFile, folder: Path, served: Path, config: DownloadConfig, on_bytes: Callable[[int], None]
) -> None:
    """Put the file into its folder. served: where to keep what several files are made of, until all of them are."""
    final = folder / file.path
    if file.prepare:
        _bring_prepared(file, final, served, config, on_bytes)
        return
    (url,) = file.urls
    if file.form == "gzip":
        _bring_gzip(file, url, final, config, on_bytes)
        return
    download(url, final, expected=Expected(size=file.size, sha256=file.sha256), config=config, on_bytes=on_bytes)
    if file.form == "archive":
        unpack_tar(final, folder, members=file.members, max_bytes=4 * config.max_bytes)
        marker(file, folder).write_text(json.dumps({"sha256": file.sha256, "members": file.members}), encoding="utf-8")
        final.unlink()  # the members are what is used; the archive would double the space


def _bring_gzip(
    file: CorpusFile, url: str, final: Path, config: DownloadConfig, on_bytes: Callable[[int], None]
) -> None:
    """Served packed or plain, kept packed. What is known is the content, so a packed file is checked after it came."""
    arrived = final.with_name(final.name + ".arrived")
    served_packed = url.endswith(".gz")
    expected = Expected(checked_later=True) if served_packed else Expected(size=file.size, sha256=file.sha256)
    download(url, arrived, expected=expected, config=config, on_bytes=on_bytes)
    if not served_packed:
        packed = final.with_name(final.name + ".packed")
        with arrived.open("rb") as plain, _packing(packed) as target:
            shutil.copyfileobj(plain, target, 1 << 20)
        packed.replace(arrived)
    _keep_if_right(file, arrived, final, url)


def _bring_prepared(
    file: CorpusFile, final: Path, served: Path, config: DownloadConfig, on_bytes: Callable[[int], None]
) -> None:
    """Fetch what the origin serves, unless another file was made of it, and take the catalogue's steps."""
    config = replace(config, max_bytes=min(config.max_bytes, MAX_BYTES))
    documents = [served / hashlib.sha256(url.encode()).hexdigest()[:16] for url in file.urls]
    for url, document in zip(file.urls, documents, strict=True):
        if not document.exists():
            download(
                url, document, expected=Expected(checked_later=True), config=config, on_bytes=_at_most(file, on_bytes)
            )
    addresses = " and ".join(file.urls)
    arrived = final.with_name(final.name + ".arrived")
    arrived.parent.mkdir(parents=True, exist_ok=True)
    try:
        content = _prepared(file, documents, addresses)
        with _packing(arrived) if file.form == "gzip" else arrived.open("wb") as target:
            target.write(content)
        _keep_if_right(file, arrived, final, addresses)
    except OriginError:
        for document in documents:
            document.unlink(missing_ok=True)  # the next attempt asks again
        raise


def _prepared(file: CorpusFile, documents: Sequence[Path], addresses: str) -> bytes:
    try:
        return prepare([document.read_bytes() for document in documents], file.prepare)
    except PrepareError as problem:
        raise OriginError(f"{addresses}: {problem}: the file has changed; report the address.") from problem


def _at_most(file: CorpusFile, on_bytes: Callable[[int], None]) -> Callable[[int], None]:
    """The bar counts the bytes that are kept, and an origin may serve more."""
    return lambda have: on_bytes(have if file.size is None else min(have, file.size))


@contextmanager
def _packing(path: Path) -> Iterator[gzip.GzipFile]:
    """Without name and time, so that the same content gives the same bytes."""
    with (
        path.open("wb") as file,
        gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as packed,
    ):
        yield packed


def _keep_if_right(file: CorpusFile, arrived: Path, final: Path, addresses: str) -> None:
    problem = wrong_content(file, arrived)
    if problem is not None:
        arrived.unlink()
        raise OriginError(f"{addresses}: {problem}, so it was not kept: the file has changed; report the address.")
    arrived.replace(final)
