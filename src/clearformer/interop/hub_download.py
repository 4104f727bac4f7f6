"""Fetch a model of the Hugging Face hub: only the files that an import reads, each checked, and nothing run.

The bytes come through `foundation.download` and not through `huggingface_hub`, which compares no checksum and begins
again after a break. Here what has arrived waits for the next attempt, and is checked against the hub's list.
"""

import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

from clearformer.foundation.download import DownloadConfig, DownloadError, OnBytes, download
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.interop.foreign_files import MOST_TEXT, read_json
from clearformer.interop.hf.model_types import family_of
from clearformer.interop.hub import Repository, endpoint, gated
from clearformer.interop.hub_files import CONFIG, shard_names, wanted_files

MOST_GB = 10.0  # of a model's files together, unless somebody says otherwise


@dataclass(frozen=True, kw_only=True)
class FetchConfig:
    """How much may be fetched, and what is known better than the repository says it.

    family: the model's family, if config.json does not name it.
    """

    max_gb: float = MOST_GB
    family: str | None = None
    download: DownloadConfig = field(default_factory=DownloadConfig)


def fetch_files(
    found: Repository, folder: Path, config: FetchConfig | None = None, *, on_progress: OnProgress = unwatched
) -> Path:
    """Bring what an import reads into `folder`; returns what to import: the folder, or a file in it.

    Small files come first, so that a model that is too large or of an unknown kind is refused before its weights. What
    has arrived stays in the folder when a later file fails, and is not fetched again.
    """
    config = config or FetchConfig()
    folder.mkdir(parents=True, exist_ok=True)
    wanted = wanted_files(found.files, found.repo)
    first = [*wanted.texts, *([wanted.weights] if wanted.is_index else [])]
    for name in first:
        _refuse_large_text(found, name)
    _bring(found, first, folder, config, unwatched)
    if wanted.has_family:
        _check_family(found, folder, config.family)
    weights = shard_names(folder / wanted.weights, found.files, found.repo) if wanted.is_index else [wanted.weights]
    names = [*first, *weights]
    _check_size(found, names, folder, config)
    _bring(found, names, folder, config, on_progress)
    return folder if CONFIG in wanted.texts else folder / wanted.weights


def _bring(found: Repository, names: list[str], folder: Path, config: FetchConfig, on_progress: OnProgress) -> None:
    """Every named file, whole and checked; one that is there already is checked and kept."""
    total, before = _bytes_of(found, names), 0

    def on_bytes(have: int) -> None:
        on_progress(before + have, total)

    for name in names:
        expected, place = found.files[name], folder / name
        if not (place.is_file() and place.stat().st_size == expected.size and not expected.problem_with(place)):
            place.unlink(missing_ok=True)
            _download(found, name, place, config, on_bytes)
        before += expected.size or 0
        on_bytes(0)


def _download(found: Repository, name: str, place: Path, config: FetchConfig, on_bytes: OnBytes) -> None:
    from huggingface_hub import hf_hub_url
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]  # public, says its manual

    url = hf_hub_url(found.repo, name, revision=found.commit, endpoint=endpoint())
    allowed = replace(config.download, max_bytes=int(max(config.max_gb * 1e9, MOST_TEXT)))
    headers = build_hf_headers(library_name="clearformer")
    try:
        download(url, place, expected=found.files[name], config=allowed, on_bytes=on_bytes, headers=headers)
    except DownloadError as error:
        if error.status not in (401, 403):
            raise
        raise ValueError(gated(found.repo)) from error
    except OSError as error:
        raise OSError(
            f"{place.parent} could not hold {name} of {found.repo}: {error.strerror or error}; make room, or let "
            "CLEARFORMER_CACHE name another folder"
        ) from error


def _bytes_of(found: Repository, names: list[str]) -> int:
    return sum(found.files[name].size or 0 for name in names)


def _refuse_large_text(found: Repository, name: str) -> None:
    size = found.files[name].size or 0
    if size > MOST_TEXT:
        raise ValueError(f"{found.repo}: {name} has {size:,} bytes, more than the {MOST_TEXT:,} that it can need")


def _check_family(found: Repository, folder: Path, family: str | None) -> None:
    try:
        family_of(read_json(folder / CONFIG), family)
    except ValueError as error:
        raise ValueError(f"{found.repo}: {error}") from None


def _check_size(found: Repository, names: list[str], folder: Path, config: FetchConfig) -> None:
    """Refuse before the first byte what is larger than allowed, or than the disk."""
    total = _bytes_of(found, names)
    if total > config.max_gb * 1e9:
        raise ValueError(
            f"{found.repo} has {total / 1e9:.1f} GB to fetch, more than the {config.max_gb:g} GB that are allowed; "
            f"allow more with --max-gb {-(-total // 10**9)}, which `clearformer models get` takes"
        )
    missing = _bytes_of(found, [name for name in names if not (folder / name).is_file()])
    free = shutil.disk_usage(folder).free
    if missing > free:
        raise OSError(
            f"{found.repo} has {missing / 1e9:.1f} GB to fetch, but {folder} has room for {free / 1e9:.1f} GB; make "
            "room, or let CLEARFORMER_CACHE name another folder"
        )
