"""What the [data] sections of all tasks share: a known corpus or files, and what a trained model says of them."""

from dataclasses import dataclass, field, fields, replace
from os.path import relpath
from pathlib import Path
from typing import Any, TypeVar

FILE = {"file": True}  # marks the fields that name files
D = TypeVar("D", bound="DataFiles")


def file_names() -> Any:
    """A field that names one file, or several."""
    return field(default="", metadata=FILE)


@dataclass(frozen=True, kw_only=True)
class DataFiles:
    """Where examples come from. File names are relative to the corpus's folder, or, without one, to the recipe's."""

    corpus: str | None = None  # a name from `clearformer data list`; files are then relative to its folder
    attribution: str | None = None  # what a model trained on this has to say of its data
    licence: str | None = None  # of the data; the trained model's folder says it


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
