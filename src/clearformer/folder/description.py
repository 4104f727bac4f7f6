"""A model folder without its weights: where it is, what it says of itself, and how it reads its input.

A folder is opened once (`open_folder`): config.json is read and every file is compared with the manifest a single time,
however many parts of a program want to know. No tensor is touched here, so that tokenizing and the engine that needs no
PyTorch start at once. `bundle` has the weights.
"""

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from clearformer.folder.fetched import HUB, asked_of_hub, hub_name, place_of
from clearformer.folder.preprocessing import TOKENIZERS, Preprocessing, read_preprocessing
from clearformer.foundation import storage
from clearformer.foundation.storage import DamagedError

FORMAT = 2
READABLE = (1, 2)
CONFIG = "config.json"
MOST_BYTES = 64 << 20  # of config.json; a larger one is not a description


@dataclass(frozen=True, kw_only=True)
class Description:
    """config.json, checked as far as this version knows it.

    task: which use the model is for; None in folders of format 1, where the network's head says it. model: its
    configuration as plain data. engine: what is said of weights in another program's layout, where there are some.
    adapters: where the base is that a folder of adapters belongs to.
    """

    path: Path
    task: str | None
    model: Mapping[str, Any]
    preprocessing: Mapping[str, Any]
    provenance: Mapping[str, Any]
    engine: Mapping[str, Any] | None = None
    adapters: Mapping[str, Any] | None = None

    def plain(self) -> dict[str, Any]:
        """As config.json has it, in the present format."""
        told: dict[str, Any] = {"format": FORMAT} | ({} if self.task is None else {"task": self.task})
        return told | {
            "model": self.model,
            "preprocessing": self.preprocessing,
            "provenance": self.provenance,
        }


class ModelFolder:
    """A model folder, opened once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.description = read_description(path)
        self._verified = False

    @property
    def provenance(self) -> Mapping[str, Any]:
        """Where the model comes from: data, recipe, scores, licence."""
        return self.description.provenance

    @cached_property
    def preprocessing(self) -> Preprocessing:
        """How the model reads its input."""
        return read_preprocessing(self.path, self.description.preprocessing)

    @cached_property
    def fingerprint(self) -> str:
        """What the folder holds, as one word: the checksum of its files' checksums."""
        return storage.sha256(self.path / storage.MANIFEST)

    def verify(self) -> None:
        """Compare every file with the manifest, the first time that somebody asks."""
        if not self._verified:
            storage.verify(self.path)
            self._verified = True

    def __repr__(self) -> str:
        return f"ModelFolder({str(self.path)!r}, task={self.description.task!r})"


def open_folder(model: "str | Path | ModelFolder") -> ModelFolder:
    """The folder behind a path, the folder of a run, or the name of a model that ships or was fetched."""
    return model if isinstance(model, ModelFolder) else ModelFolder(find_model(model))


def find_model(model: str | Path) -> Path:
    """Where the model folder is: a path, the folder of a run, or the name of one that ships or was fetched."""
    path = Path(model)
    if path.is_dir():
        inside = path / "model"
        return inside if not (path / CONFIG).exists() and (inside / CONFIG).exists() else path
    if str(model) in shipped_names():
        return shipped_models() / str(model)
    fetched = place_of(str(model))
    if fetched is not None and fetched.is_dir():
        return fetched
    raise ValueError(_where_to_get(str(model), fetched))


def _where_to_get(model: str, place: Path | None) -> str:
    """There is no such folder: what to do instead. place: where it would lie if it were fetched."""
    if (on_hub := asked_of_hub(model)) is not None:
        return f"{on_hub} of the hub is not on this machine yet; fetch it with `clearformer models get {on_hub}`"
    ships = f"models that ship: {', '.join(shipped_names()) or 'none'}"
    near = difflib.get_close_matches(model, shipped_names(), n=1)
    if place is None and near:
        return f"there is no model {model}; did you mean {near[0]}?"
    if place is not None and hub_name(model) is None:
        return f"the model {model} is not on this machine yet; fetch it with `clearformer models get {model}`"
    if place is not None and not Path(model).parent.is_dir():  # runs/x, beside other runs, is no name on the hub
        return (
            f"there is no model folder {model} ({ships}); if that is a name on the Hugging Face hub, "
            f"write {HUB}{model}, or fetch it with `clearformer models get {model}`"
        )
    return (
        f"there is no model folder {model} ({ships}; `clearformer models list` shows others); train one with "
        "`clearformer train sample`, then give --model runs/sample"
    )


def shipped_names() -> list[str]:
    """The models that ship, by name."""
    models = shipped_models()
    return sorted(path.name for path in models.iterdir() if path.is_dir()) if models.is_dir() else []


def shipped_models() -> Path:
    """The folder of the package's own models, which nobody writes to."""
    return Path(str(resources.files("clearformer") / "models"))


def read_description(folder: Path) -> Description:
    """config.json of a model folder."""
    path = folder / CONFIG
    described = _read_json(path, folder)
    if not isinstance(described, dict) or not isinstance(described.get("model"), dict):
        raise ValueError(f"{path} was not written by clearformer; bring it over with `clearformer import`")
    if described.get("format") not in READABLE:
        raise ValueError(
            f"{path} has format {described.get('format')}, but this version reads format {FORMAT}; update clearformer"
        )
    described = described if described["format"] == FORMAT else _upgraded(described)
    for name in ("preprocessing", "provenance", "ctranslate2", "adapters"):
        if not isinstance(described.get(name, {}), dict):
            raise DamagedError(f"{path} has a {name} that is no table of facts")
    return Description(
        path=folder,
        task=described.get("task"),
        model=described["model"],
        preprocessing=described.get("preprocessing", {}),
        provenance=described.get("provenance", {}),
        engine=described.get("ctranslate2"),
        adapters=described.get("adapters"),
    )


def _read_json(path: Path, folder: Path) -> Any:
    try:
        if not path.is_file():
            raise FileNotFoundError
        if path.stat().st_size > MOST_BYTES:
            raise DamagedError(f"{path} has {path.stat().st_size:,} bytes, too many for a description; refused")
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{folder} is not a model folder: it has no {CONFIG}") from None
    except (ValueError, RecursionError) as error:
        raise error if isinstance(error, DamagedError) else DamagedError(f"{path} is not valid JSON: {error}") from None


def _upgraded(described: dict[str, Any]) -> dict[str, Any]:
    """Format 1 named what belongs to preprocessing one by one, and no task."""
    parts = (*TOKENIZERS, "markers", "labels")
    preprocessing = {name: described[name] for name in parts if described.get(name) is not None}
    return {**described, "preprocessing": preprocessing}
