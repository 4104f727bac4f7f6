"""Models that were fetched by name: which names there are, and where in the user's cache their folders lie.

A name is one of the published models that this package knows (`minilm`), or one on the Hugging Face hub
(`owner/name`, `owner/name@revision`). Here nothing is fetched: a model that is not there is said to be so.
"""

import re
import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from clearformer.foundation.machine import cache_folder

_WORD = r"[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?"
_HUB = re.compile(rf"(?P<repo>{_WORD}/{_WORD})(?:@(?P<revision>[A-Za-z0-9._/-]{{1,100}}))?")
_LONGEST = 96  # characters of owner/name on the hub


@dataclass(frozen=True)
class HubName:
    """A model on the hub: owner/name, and the branch, tag or commit that somebody asked for."""

    repo: str
    revision: str | None = None

    def __str__(self) -> str:
        return self.repo if self.revision is None else f"{self.repo}@{self.revision}"

    @property
    def file_name(self) -> str:
        """As the name of one folder. No name on the hub has two dashes in a row, so no two names become one."""
        revision = "" if self.revision is None else f"@{quote(self.revision, safe='')}"
        return self.repo.replace("/", "--") + revision


def hub_name(name: str) -> HubName | None:
    """What a name on the hub consists of; None for a name that none there can have."""
    found = _HUB.fullmatch(name)
    if found is None:
        return None
    repo = found["repo"]
    if len(repo) > _LONGEST or "--" in repo or ".." in repo or repo.endswith(".git"):
        return None
    return HubName(repo, found["revision"])


def published_table() -> dict[str, dict[str, Any]]:
    """The published models that can be fetched by a short name, as their file says it."""
    file = resources.files("clearformer") / "models" / "published.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def fetched_models() -> Path:
    """The folder in the user's cache that holds the model folders."""
    return cache_folder() / "models"


def place_of(name: str) -> Path | None:
    """Where the model of that name lies or would lie; None where nothing of that name can be fetched."""
    on_hub = hub_name(name)
    if on_hub is not None:
        return fetched_models() / on_hub.file_name
    return fetched_models() / name if name in published_table() else None


def names_here() -> list[str]:
    """The models that were fetched, by the name that finds them."""
    folder = fetched_models()
    present = sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    names = [unquote(name.replace("--", "/", 1)) for name in present]
    return [name for name, file in zip(names, present, strict=True) if place_of(name) == folder / file]
