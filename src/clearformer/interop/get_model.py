"""Models by name: fetched once into the user's cache, imported, and from then on found without a network.

A short name is a published model that lies in a package of the Python registry; owner/name is one of the hub. The model
folder appears whole or not at all.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clearformer.folder.bundle import Bundle
from clearformer.folder.description import shipped_models, shipped_names
from clearformer.folder.fetched import HubName, asked_of_hub, fetched_models, hub_name, place_of
from clearformer.folder.rounded_weights import Kept
from clearformer.foundation import storage
from clearformer.foundation.locks import only_one
from clearformer.foundation.machine import cache_folder
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.interop.hub import find_repository
from clearformer.interop.hub_download import FetchConfig, fetch_files
from clearformer.interop.importer import import_checkpoint
from clearformer.interop.published import PublishedModel, published_models
from clearformer.interop.registry_packages import take_files


def get_model(name: str, config: FetchConfig | None = None, *, on_progress: OnProgress = unwatched) -> Path:
    """The model folder of that name; what is not there yet, or is damaged, is fetched.

    Only one process at a time does so; the others wait and find it done.
    """
    if name in shipped_names():
        return shipped_models() / name
    place = place_of(name)
    if place is None:
        raise ValueError(_unknown(name))
    # Another lock than that of the files' folder, which has the same name where a commit is asked for.
    with only_one(downloads() / f".{place.name}.model.lock"):
        if not _is_whole(place):
            _get(name, place, config, on_progress)
    return place


def import_from_hub(
    name: HubName,
    out: Path,
    config: FetchConfig | None = None,
    *,
    split: str | None = None,
    languages: tuple[str, str] | None = None,
    dtype: Kept | None = None,
    prose: bool = True,
    on_progress: OnProgress = unwatched,
) -> Bundle:
    """Fetch a model of the hub and import it into the model folder `out`; its provenance names the commit.

    What was fetched is deleted when it has been imported; if that fails, it stays for the next attempt.
    """
    config = config or FetchConfig()
    found = find_repository(name, config.download)
    fetched = downloads() / HubName(found.repo, found.commit).file_name
    with only_one(downloads() / f".{fetched.name}.lock"):
        source = fetch_files(found, fetched, config, on_progress=on_progress)
        origin = {"imported_from": found.repo, "commit": found.commit, "licence": found.licence}
        told: dict[str, Any] = {
            "split": split,
            "languages": languages,
            "dtype": dtype,
            "prose": prose,
            "origin": origin,
        }
        made = import_checkpoint(source, out, config.family, **told)
        storage.discard(fetched)
    return made


def downloads() -> Path:
    """Where files wait until they are imported."""
    return cache_folder() / "downloads"


def _get(name: str, place: Path, config: FetchConfig | None, on_progress: OnProgress) -> None:
    storage.sweep(fetched_models(), only=place.name)  # what an interrupted import left
    on_hub = asked_of_hub(name) or hub_name(name)
    if on_hub is not None:
        import_from_hub(on_hub, place, config, on_progress=on_progress)
    else:
        _import_published(published_models()[name], place, on_progress)


def _import_published(model: PublishedModel, place: Path, on_progress: OnProgress) -> None:
    fetched = downloads() / model.name
    take_files(model.package, fetched, on_progress=on_progress)
    try:
        files = model.package.files
        source = fetched / files[0] if len(files) == 1 else fetched  # one file is a model by itself
        import_checkpoint(source, place, origin=_origin(model))
    finally:
        storage.discard(fetched)


def _origin(model: PublishedModel) -> Mapping[str, Any]:
    package = model.package
    languages = {"source_language": model.source_language, "target_language": model.target_language}
    return {
        **{name: language for name, language in languages.items() if language is not None},
        "title": model.title,
        "imported_from": package.requirement,
        "package_sha256": package.sha256,
        "licence": model.licence,
    }


def _is_whole(place: Path) -> bool:
    if not place.is_dir():
        return False
    try:
        storage.verify(place)
    except storage.DamagedError:
        return False
    return True


def _unknown(name: str) -> str:
    return (
        f"there is no model {name!r} to fetch; known are {', '.join(published_models())}, and owner/name for a model "
        "of the Hugging Face hub"
    )
