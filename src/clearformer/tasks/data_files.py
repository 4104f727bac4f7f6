"""What the [data] sections of all tasks share: a known corpus or files, and what a trained model says of them."""

from dataclasses import dataclass, field, fields, replace
from os.path import relpath
from pathlib import Path
from typing import Any, TypeVar

from clearformer.data.catalogue import fetch

D = TypeVar("D", bound="DataFiles")


def file_names(needed: str = "") -> Any:
    """A field that names one file, or several. needed: what it names, where there is no training without it."""
    return field(default="", metadata={"file": True, "needed": needed})


@dataclass(frozen=True, kw_only=True)
class DataFiles:
    """Where examples come from. File names are relative to the corpus's folder, or, without one, to the recipe's."""

    corpus: str | None = None  # a name from `clearformer data list`; files are then relative to its folder
    attribution: str | None = None  # what a model trained on this has to say of its data
    licence: str | None = None  # of the data; the trained model's folder says it


def folder_of(data: DataFiles, base: Path) -> Path:
    """Where the names of the files begin: in a known corpus's folder, or, without one, at `base`."""
    return fetch.get(data.corpus) if data.corpus else base


def check_files(data: DataFiles, base: Path) -> None:
    """Refuse data that does not name what training needs, or names files that are not there."""
    named = {one.name: several(getattr(data, one.name)) for one in fields(data) if one.metadata.get("file")}
    for one in fields(data):
        if one.metadata.get("needed") and not any(named[one.name]):
            raise ValueError(f"the recipe's [data] section needs {one.name}: {one.metadata['needed']}")
    folder = folder_of(data, base)
    for key, names in named.items():
        for name in filter(None, names):
            if not (folder / name).exists() and not key.startswith("test"):  # a test set is read at the end, if at all
                raise ValueError(f"{folder / name} does not exist; data.{key} names it")


def seen_from(folder: Path, data: D, base: Path) -> D:
    """The same files by their names from another folder, so that a recipe kept there can be run again."""
    if data.corpus:
        return data

    def moved(name: str) -> str:
        return relpath(base / name, folder) if name and not Path(name).is_absolute() else name

    changes: dict[str, Any] = {}
    for one in fields(data):
        if one.metadata.get("file"):
            value = getattr(data, one.name)
            changes[one.name] = moved(value) if isinstance(value, str) else tuple(map(moved, value))
    return replace(data, **changes)


def several(names: str | tuple[str, ...]) -> tuple[str, ...]:
    """One name or more, as a tuple."""
    return (names,) if isinstance(names, str) else names
