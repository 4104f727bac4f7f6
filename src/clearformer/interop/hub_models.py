"""`hub:owner/name` where a model is wanted: fetched when it is first asked for, later found without a network.

Only the doors at which somebody says which model they want come here: the command line, `cf.load`, a recipe. Names that
stand in model folders, indexes and requests are looked up and never fetched, so that no file can send for another.
"""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from clearformer.folder.fetched import asked_of_hub, pinned_name, place_of
from clearformer.foundation.progress import OnProgress, unwatched

if TYPE_CHECKING:
    from clearformer.folder.bundle import Bundle

log = logging.getLogger(__name__)


def here(model: str | Path, *, on_progress: OnProgress = unwatched) -> str | Path:
    """The same model; if its name begins with `hub:` and it is not on this machine yet, it is fetched."""
    if Path(model).is_dir() or (name := asked_of_hub(model)) is None:
        return model
    place = place_of(str(model))
    if place is None or not place.is_dir():
        from clearformer.interop.get_model import get_model  # here: a model that is there needs none of it
        from clearformer.interop.hub import endpoint

        log.info("%s is not on this machine yet; fetching it from %s", name, endpoint())
        log.info("%s is kept as %s", name, pinned_name(get_model(str(name), on_progress=on_progress)))
    return model


def import_asked(
    source: str | Path,
    out: str | Path | None,
    family: str | None,
    *,
    split: str | None = None,
    languages: tuple[str, str] | None = None,
) -> "Bundle | None":
    """The model that `hub:` names, imported into the folder `out`; None where `source` is something else."""
    if Path(source).is_dir() or (name := asked_of_hub(source)) is None:
        return None
    if out is None:
        raise ValueError(
            f"{source} is opened with cf.load; to import it with choices of your own, name a folder as well"
        )
    from clearformer.interop.get_model import import_from_hub
    from clearformer.interop.hub_download import FetchConfig

    return import_from_hub(name, Path(out), FetchConfig(family=family), split=split, languages=languages)
