"""Which program runs a model: CTranslate2 where it can, PyTorch where it must.

The fast engine wants the weights laid out in its own way. That is done once for each model folder and kept beside it,
or, where nobody may write there, in the user's cache; a copy that was not made from the folder as it is now is made
anew.
"""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from clearformer.folder.description import (
    DEFAULT_MODEL,
    ENGINE_LAYOUT,
    find_model,
    fingerprint,
    read_description,
    shipped_models,
)
from clearformer.foundation import storage
from clearformer.foundation.machine import cache_folder, keep_freed_memory
from clearformer.inference.ctranslate2 import CTranslate2Translator, Scores, reasons_against
from clearformer.inference.translation_settings import DecodingConfig, usual_search

if TYPE_CHECKING:
    from clearformer.inference.translator import Translator

Engine = Literal["auto", "torch", "ctranslate2"]
log = logging.getLogger(__name__)


def open_translator(
    model: str | Path = DEFAULT_MODEL,
    engine: Engine = "auto",
    config: DecodingConfig | None = None,
    *,
    others: Sequence[str | Path] = (),
    scores: Scores = "total",
) -> "Translator | CTranslate2Translator":
    """Open a model for translating with these settings, or with those of its recipe.

    "auto" takes ctranslate2 if it can run this model and search in this way, and otherwise says why not. others: models
    that decide together with the first. scores: how much is wanted of the log-probabilities; the torch engine
    always has those of single tokens.
    """
    folder = find_model(model)
    if others and engine == "ctranslate2":
        raise ValueError("ctranslate2 runs one model alone; leave the engine open, or the further models out")
    if others or engine == "torch":
        return _open_torch(folder, *others)
    config = config or usual_search(read_description(folder).get("provenance", {}))
    try:
        if reasons := reasons_against(config):
            raise ValueError(f"ctranslate2 cannot search with {' and '.join(reasons)}")
        return _open_fast(folder, scores)
    except storage.DamagedError:  # no engine should run it
        raise
    except ValueError as error:
        if engine == "ctranslate2":
            raise
        translator = _open_torch(folder)  # which refuses a model that cannot translate, before anything is said
        log.info("translating with the torch engine: %s", error)
        return translator


def converted(folder: Path) -> Path:
    """The folder for ctranslate2 that belongs to a model folder, made if it is not there or not of this one."""
    storage.verify(folder)
    wanted = fingerprint(folder)
    places = [cache_folder() / "ctranslate2" / wanted[:32]]
    if folder.resolve().parent != shipped_models().resolve():  # a package is left as it was installed
        places.insert(0, folder.parent / f".{folder.resolve().name}.ctranslate2")
    for place in places:
        if _is_made_from(place, wanted):
            return place
    for place in places:
        try:
            _convert(folder, place)
        except OSError as error:
            if _is_made_from(place, wanted):  # somebody else was quicker
                return place
            log.debug("%s", error)
            continue
        return place
    tried = " nor ".join(str(place.parent) for place in places)
    raise OSError(f"neither {tried} can be written to; set CLEARFORMER_CACHE")


def _convert(folder: Path, place: Path) -> None:
    from clearformer.interop.to_ctranslate2 import convert  # here: checking a configuration takes a library

    convert(folder, place)


def _open_torch(folder: Path, *others: str | Path) -> "Translator":
    from clearformer.folder import bundle
    from clearformer.inference.translator_ensemble import translator_of

    keep_freed_memory()  # a batch frees what the next one takes
    return translator_of([bundle.load(one) for one in (folder, *map(find_model, others))])


def _open_fast(folder: Path, scores: Scores) -> CTranslate2Translator:
    described = read_description(folder)
    if "ctranslate2" in described:  # quantised or exported: there is nothing else to open
        return CTranslate2Translator(folder, scores=scores)
    if described.get("markers", {}).get("forced"):
        raise ValueError("ctranslate2 does not score the tokens that every output of this model begins with")
    return CTranslate2Translator(converted(folder), reference=lambda: _open_torch(folder), scores=scores)


def _is_made_from(place: Path, wanted: str) -> bool:
    try:
        made = read_description(place)["ctranslate2"]
        storage.verify(place)
    except (OSError, ValueError, KeyError):
        return False
    return bool(made.get("made_from") == wanted and made.get("layout") == ENGINE_LAYOUT)
