"""Which program runs a model: CTranslate2 where it can, PyTorch where it must.

The fast engine wants the weights laid out in its own way. That is done once for each model folder and kept beside it,
or, where nobody may write there, in the user's cache; a copy that was not made from the folder as it is now is made
anew. Each folder is read and compared with its manifest once per start.
"""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from clearformer.folder.description import ModelFolder, open_folder, shipped_models
from clearformer.foundation import settings, storage
from clearformer.foundation.machine import cache_folder, keep_freed_memory
from clearformer.inference.ctranslate2 import CTranslate2Translator, Scores, reasons_against
from clearformer.inference.translation_settings import DecodingConfig, usual_search

if TYPE_CHECKING:
    from clearformer.folder.bundle import Bundle
    from clearformer.inference.translator import Translator

Engine = Literal["auto", "torch", "ctranslate2"]
LAYOUT = 1  # of the fast engine's copies that this version reads: see interop/to_ctranslate2.py
log = logging.getLogger(__name__)


def open_translator(
    model: str | Path | ModelFolder,
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
    folder = open_folder(model)
    _refuse_reader(folder)
    if others and engine == "ctranslate2":
        raise ValueError("ctranslate2 runs one model alone; leave the engine open, or the further models out")
    if others or engine == "torch":
        return _open_torch(folder, *others)
    config = config or usual_search(folder.provenance)
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


def _refuse_reader(folder: ModelFolder) -> None:
    """An encoder writes nothing; the fast engine would miss a file of its copy instead of saying so."""
    described = folder.description
    if described.model.get("shape") != "encoder":
        return
    from clearformer.inference.wrong_use import wrong_use
    from clearformer.model.config import ModelConfig

    config = settings.parse(ModelConfig, described.model, str(folder.path / "config.json"))
    raise ValueError(wrong_use(config, "translation", described.task))


def open_bundle(model: str | Path | ModelFolder, engine: Engine = "auto") -> "Bundle":
    """Open a model that reads (classifies, tags, answers, embeds), to be used by the object for its task.

    "auto" takes ctranslate2 for a folder that was quantised or exported for it, and PyTorch for whole weights. With
    those PyTorch is as fast in batches and faster for one text, because it keeps them packed and all cores share the
    text (`benchmarks/reading_speed.py`); and only there can a model be looked inside.
    """
    folder = open_folder(model)
    stored = folder.description.engine is not None
    if engine == "auto":
        engine = "ctranslate2" if stored and (_reads(folder) or _hears(folder)) else "torch"
    if engine == "torch":
        return _load(folder)
    return _load_fast(folder if stored else converted(folder))


def _load(folder: ModelFolder) -> "Bundle":
    from clearformer.folder import bundle

    return bundle.load(folder, as_kept=True)


def _reads(folder: ModelFolder) -> bool:
    return bool(folder.description.model.get("shape") == "encoder")


def _hears(folder: ModelFolder) -> bool:
    return bool(folder.description.model.get("front", {}).get("kind") == "sound")


def _load_fast(folder: ModelFolder) -> "Bundle":
    if _hears(folder):
        from clearformer.inference.speech_engine import speech_bundle

        return speech_bundle(folder)
    from clearformer.inference.engine_network import fast_bundle

    return fast_bundle(folder)


def converted(model: Path | ModelFolder) -> ModelFolder:
    """The folder for ctranslate2 that belongs to a model folder, made if it is not there or not of this one."""
    folder = open_folder(model)
    folder.verify()
    places = [cache_folder() / "ctranslate2" / folder.fingerprint[:32]]
    resolved = folder.path.resolve()
    if resolved.parent != shipped_models().resolve():  # a package is left as it was installed
        places.insert(0, folder.path.parent / f".{resolved.name}.ctranslate2")
    for place in places:
        if (found := _made_from(place, folder.fingerprint)) is not None:
            return found
    for place in places:
        try:
            _convert(folder, place)
        except OSError as error:
            if (found := _made_from(place, folder.fingerprint)) is not None:  # somebody else was quicker
                return found
            log.debug("%s", error)
            continue
        return ModelFolder(place)
    tried = " nor ".join(str(place.parent) for place in places)
    raise OSError(f"neither {tried} can be written to; set CLEARFORMER_CACHE")


def _convert(folder: ModelFolder, place: Path) -> None:
    from clearformer.interop.to_ctranslate2 import convert  # here: checking a configuration takes a library

    convert(folder, place)


def _open_torch(folder: ModelFolder, *others: str | Path) -> "Translator":
    from clearformer.folder import bundle
    from clearformer.inference.translator_ensemble import translator_of

    keep_freed_memory()  # a batch frees what the next one takes
    return translator_of([bundle.load(open_folder(one)) for one in (folder, *others)])


def _open_fast(folder: ModelFolder, scores: Scores) -> CTranslate2Translator:
    described = folder.description
    if described.engine is not None:  # quantised or exported: there is nothing else to open
        return CTranslate2Translator(folder, scores=scores)
    markers = described.preprocessing.get("markers")
    if isinstance(markers, dict) and markers.get("forced"):
        raise ValueError("ctranslate2 does not score the tokens that every output of this model begins with")
    return CTranslate2Translator(converted(folder), reference=lambda: _open_torch(folder), scores=scores)


def _made_from(place: Path, wanted: str) -> ModelFolder | None:
    """The copy at a place, if it is whole, of our layout, and was made from the folder with this fingerprint."""
    try:
        found = ModelFolder(place)
        made = found.description.engine
        if made is None or made.get("made_from") != wanted or made.get("layout") != LAYOUT:
            return None
        found.verify()
    except (OSError, ValueError):
        return None
    return found
