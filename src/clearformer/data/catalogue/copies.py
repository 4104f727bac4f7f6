"""Whether a copy of a catalogued file is the catalogued one."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from clearformer.data.catalogue.corpora import CorpusFile
from clearformer.data.file_facts import sha256_of


def problem_with(file: CorpusFile, folder: Path) -> str | None:
    """What is wrong with the copy of one file, or None when it is right as far as anybody can tell."""
    if file.form == "archive":
        return _problem_with_members(file, folder)
    path = folder / file.path
    return wrong_content(file, path) if path.is_file() else f"{path} is missing"


def _problem_with_members(file: CorpusFile, folder: Path) -> str | None:
    missing = [member for member in file.members if not (folder / member).is_file()]
    if missing:
        return f"{folder / missing[0]} is missing"
    try:
        came_from = json.loads(marker(file, folder).read_text(encoding="utf-8")).get("sha256")
    except (OSError, ValueError):
        return f"{folder / file.path} was not unpacked to the end"
    return None if came_from == file.sha256 else f"{folder / file.path} was another archive when it was unpacked"


def wrong_content(file: CorpusFile, path: Path) -> str | None:
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


def marker(file: CorpusFile, folder: Path) -> Path:
    """The note that an archive was unpacked to the end."""
    return folder / f"{file.path}.unpacked.json"
