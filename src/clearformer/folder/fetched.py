"""Models that were fetched by name: which names there are, and where in the user's cache their folders lie.

A name is one of the published models that this package knows (`minilm`), or one on the Hugging Face hub
(`owner/name`, `owner/name@revision`). With `hub:` before it, such a model is also fetched where it is wanted: see
`interop/hub_models.py`. Here nothing is fetched: a model that is not there is said to be so.
"""

import json
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
HUB = "hub:"  # before a name of the hub, where the model may be fetched to be used
_COMMIT = re.compile("[0-9a-f]{40}")


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


def asked_of_hub(model: str | Path) -> HubName | None:
    """The name that stands behind `hub:`; None for what does not begin so."""
    if not str(model).startswith(HUB):
        return None
    name = hub_name(str(model).removeprefix(HUB))
    if name is None:
        raise ValueError(
            f"{model} is no name on the hub; write {HUB}OWNER/NAME, as in {HUB}openai-community/gpt2, with @REVISION "
            "behind it for a certain branch, tag or commit"
        )
    return name


def published_table() -> dict[str, dict[str, Any]]:
    """The published models that can be fetched by a short name, as their file says it."""
    file = resources.files("clearformer") / "models" / "published.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def fetched_models() -> Path:
    """The folder in the user's cache that holds the model folders."""
    return cache_folder() / "models"


def place_of(name: str) -> Path | None:
    """Where the model of that name lies or would lie; None where nothing of that name can be fetched."""
    on_hub = asked_of_hub(name) or hub_name(name)
    if on_hub is not None:
        place = fetched_models() / on_hub.file_name
        return place if place.is_dir() else _of_commit(on_hub) or place
    return fetched_models() / name if name in published_table() else None


def pinned_name(folder: Path) -> str | None:
    """`hub:owner/name@commit` for a model folder that was fetched from the hub: what it is called everywhere."""
    if folder.resolve().parent != fetched_models().resolve():
        return None
    repo, commit = _origin(folder)
    return f"{HUB}{repo}@{commit}" if hub_name(repo) is not None and _COMMIT.fullmatch(commit) else None


def lasting_name(folder: Path) -> str:
    """What to write down so that a model is found again: its name on the hub, or the whole path of its folder."""
    return pinned_name(folder) or str(folder.resolve())


def _of_commit(name: HubName) -> Path | None:
    """The folder of a commit that was fetched by another name: the newest, or a branch."""
    if not _COMMIT.fullmatch(name.revision or "") or not fetched_models().is_dir():
        return None
    near = sorted(fetched_models().glob(HubName(name.repo).file_name + "*"))
    return next((place for place in near if _origin(place) == (name.repo, name.revision)), None)


def _origin(folder: Path) -> tuple[str, str]:
    """The repository and the commit that a folder's provenance names; empty where it does not."""
    try:
        facts = json.loads((folder / "config.json").read_text(encoding="utf-8"))["provenance"]
        return str(facts.get("imported_from", "")), str(facts.get("commit", ""))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return "", ""


def names_here() -> list[str]:
    """The models that were fetched, by the name that finds them."""
    folder = fetched_models()
    present = sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    names = [unquote(name.replace("--", "/", 1)) for name in present]
    return [name for name, file in zip(names, present, strict=True) if place_of(name) == folder / file]
