"""Known corpora: where they come from, what they may be used for, and the checksums that prove a copy right.

The entries are data and live in catalogue.toml; this file gives them types.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urljoin

Form = Literal["file", "gzip", "archive"]
Way = Literal["package", "download", "attempt", "copy"]


@dataclass(frozen=True, kw_only=True)
class CorpusFile:
    """One file of a corpus.

    Its form says how it is kept and what size and SHA-256 belong to: a `file` is kept as it is served; a `gzip` is kept
    gzipped whether it is served so or not, and is known by the bytes inside (packers differ, content does not); an
    `archive` is a tar from which `members` are taken, and then removed.

    Where an origin serves something else, `prepare` names the steps that make the file of it (see `prepare.STEPS`).
    """

    path: str
    urls: tuple[str, ...]  # usually one; none: only a local copy can be used
    size: int | None
    sha256: str | None  # None: nobody has published one, so a download cannot be verified
    form: Form = "file"
    members: tuple[str, ...] = ()
    prepare: tuple[str, ...] = ()
    unseen: bool = False  # the steps follow a description: nobody could hold them against the origin's own bytes


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """A corpus with its papers in order; `splits` names the files of each part, with {lang} for the language."""

    name: str
    title: str
    origin: str
    licence: str
    attribution: str
    citation: str
    splits: Mapping[str, tuple[str, ...]]
    files: tuple[CorpusFile, ...]
    within: str | None = None  # where it lies below a folder of local copies, if not in one of its name
    ask: str | None = None  # where to ask for a corpus that has to be copied

    @property
    def size(self) -> int:
        """Bytes that a download brings, as far as they are known."""
        return sum(file.size or 0 for file in self.files)

    @property
    def way(self) -> Way:
        """How it is had: with the package, by download, by a download that nobody has tried, or as a local copy."""
        if self.ships:
            return "package"
        if not all(file.urls for file in self.files):
            return "copy"
        return "attempt" if any(file.unseen for file in self.files) else "download"

    @property
    def downloadable(self) -> bool:
        """Whether every file has an address whose bytes are known to give it."""
        return self.way == "download"

    @property
    def folder(self) -> Path:
        """Where the files are if the corpus is part of the package."""
        return Path(str(files("clearformer"))) / "corpora" / self.name

    @property
    def ships(self) -> bool:
        """Whether the corpus is part of the package."""
        return self.folder.is_dir()

    def split(self, part: str, **languages: str) -> tuple[str, ...]:
        """The paths of a part: `split("train", lang="de")` is one or more files that belong together in order."""
        if part not in self.splits:
            raise ValueError(f"{self.name} has no part {part!r}: choose one of {', '.join(self.splits)}.")
        return tuple(pattern.format(**languages) for pattern in self.splits[part])


def list_corpora() -> tuple[Corpus, ...]:
    """All known corpora by name."""
    return tuple(_entries().values())


def find_corpus(name: str) -> Corpus:
    """The entry of that name."""
    entries = _entries()
    if name not in entries:
        near = difflib.get_close_matches(name, entries, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(entries)}."
        raise ValueError(f"There is no corpus {name!r} in the catalogue: {hint}")
    return entries[name]


@cache
def _entries() -> dict[str, Corpus]:
    table = tomllib.loads(files("clearformer.data.catalogue").joinpath("catalogue.toml").read_text(encoding="utf-8"))
    return {name: _corpus(name, table[name]) for name in sorted(table)}


def _corpus(name: str, entry: dict[str, Any]) -> Corpus:
    base = entry.pop("base", None)
    splits = {part: tuple(patterns) for part, patterns in entry.pop("splits", {}).items()}
    corpus_files = tuple(_file(base, file) for file in entry.pop("files"))
    return Corpus(name=name, splits=splits, files=corpus_files, **entry)


def _file(base: str | None, entry: dict[str, Any]) -> CorpusFile:
    served_as = entry.pop("url", entry["path"])  # absolute, or relative to the corpus's base; or several of these
    addresses = [served_as] if isinstance(served_as, str) else served_as
    return CorpusFile(
        urls=tuple(urljoin(base or "", address) for address in addresses if base or "://" in address),
        size=entry.pop("size", None),
        sha256=entry.pop("sha256", None),
        members=tuple(entry.pop("members", ())),
        prepare=tuple(entry.pop("prepare", ())),
        **entry,
    )
