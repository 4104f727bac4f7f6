"""What the Hugging Face hub says of a model: the commit, and its files with sizes and checksums.

`huggingface_hub` knows how to ask: the user's token, and what a refusal means. Its list is read here as far as it makes
sense, and whatever goes wrong becomes one sentence. `hub_download` fetches the files.
"""

import logging
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clearformer.folder.fetched import HubName, hub_name
from clearformer.foundation.download import DownloadConfig, Expected
from clearformer.interop.foreign_files import first_line

log = logging.getLogger(__name__)

_SECONDS, _ATTEMPTS = 30.0, 3
_COMMIT, _SHA256, _SHA1 = (re.compile(rf"[0-9a-f]{{{digits}}}") for digits in (40, 64, 40))


@dataclass(frozen=True, kw_only=True)
class Repository:
    """A model on the hub as it was at one commit. licence: what its owner says, if anything."""

    repo: str
    commit: str
    licence: str | None
    files: Mapping[str, Expected]


def find_repository(name: HubName, config: DownloadConfig | None = None) -> Repository:
    """What the hub says of a model: its commit, and its files with sizes and checksums."""
    pause = (config or DownloadConfig()).first_pause
    for attempt in range(_ATTEMPTS):
        try:
            return _read(_ask(name), name)
        except Exception as error:  # the library that carries its requests changes with its versions
            if isinstance(error, ValueError | TypeError | LookupError | AttributeError) and not _is_refusal(error):
                raise ValueError(
                    f"{endpoint()} does not answer as a hub does when asked for {name} ({first_line(error)}); check "
                    "HF_ENDPOINT"
                ) from error
            if not _is_busy(error) or attempt + 1 == _ATTEMPTS:
                raise ValueError(_refusal(error, name)) from error
            log.info("%s: %s; trying again", name, _refusal(error, name))
            time.sleep(pause * 2**attempt)
    raise AssertionError("the last attempt returns or raises")


def endpoint() -> str:
    """The hub's address: HF_ENDPOINT, as it is now, or the public one."""
    return (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")


def _ask(name: HubName) -> Any:
    from huggingface_hub import HfApi  # here: it takes a third of a second

    api = HfApi(endpoint=endpoint(), library_name="clearformer")
    return api.model_info(name.repo, revision=name.revision, files_metadata=True, timeout=_SECONDS)


def _read(info: Any, asked: HubName) -> Repository:
    """The hub's list, as far as it makes sense."""
    named = hub_name(str(info.id))
    if named is None or named.revision is not None or not _COMMIT.fullmatch(str(info.sha)):
        raise ValueError(f"it gives the name {info.id!r} and the commit {info.sha!r}")
    if named.repo.lower() != asked.repo.lower():
        log.info("%s is called %s by now", asked.repo, named.repo)
    tags = [tag for tag in info.tags or [] if isinstance(tag, str)]
    return Repository(
        repo=named.repo,
        commit=info.sha,
        licence=next((tag.removeprefix("license:") for tag in tags if tag.startswith("license:")), None),
        files={file.rfilename: _expected(file) for file in info.siblings or []},
    )


def _expected(file: Any) -> Expected:
    """Large files have a SHA-256, and the others the name that git gives to their content."""
    large = file.lfs
    size, sha256 = (file.size, None) if large is None else (large.size, large.sha256)
    git_blob = file.blob_id if large is None else None
    good = _SHA1.fullmatch(str(git_blob)) if sha256 is None else _SHA256.fullmatch(str(sha256))
    if not isinstance(size, int) or size < 0 or not good:
        raise ValueError(f"its list gives {file.rfilename!r} without size or checksum")
    return Expected(size=size, sha256=sha256, git_blob=git_blob)


def _is_refusal(error: Exception) -> bool:
    """Whether the library itself says no; some of these count as ValueErrors."""
    from huggingface_hub.errors import HfHubHTTPError

    return isinstance(error, HfHubHTTPError)


def _is_busy(error: Exception) -> bool:
    """Whether the same question may get an answer a moment later."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    return isinstance(status, int) and (status >= 500 or status == 429)


def _refusal(error: Exception, name: HubName) -> str:
    """One sentence: why the hub does not give the list, and what to do."""
    from huggingface_hub import errors

    if isinstance(error, errors.GatedRepoError):
        return gated(name.repo)
    if isinstance(error, errors.RepositoryNotFoundError):
        return (
            f"{endpoint()} has no model {name.repo}, or does not show it to you; check the spelling, or log in with "
            "`hf auth login`"
        )
    if isinstance(error, errors.RevisionNotFoundError):
        return f"{name.repo} has no branch, tag or commit {name.revision}; leave it out for the newest"
    if isinstance(error, errors.OfflineModeIsEnabled):
        return f"{name} is not on this machine yet and cannot be fetched while HF_HUB_OFFLINE is set; unset it"
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status is not None:
        return f"{endpoint()} answered {status} when asked for {name}; try again later"
    return (
        f"{endpoint()} cannot be reached to fetch {name} ({first_line(error)}); check the connection, or let "
        "HF_ENDPOINT name a mirror"
    )


def gated(repo: str) -> str:
    return (
        f"{repo} is not open to everybody; accept its terms at {endpoint()}/{repo}, log in with `hf auth login`, and "
        "run the command again"
    )
