"""The Python door: open a model, use it, train one.

What each way needs is imported when it is taken: who translates need not wait for what trains.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clearformer.inference.translation_settings import Translation
    from clearformer.retrieval.documents import Unit
    from clearformer.retrieval.search_index import SearchIndex

DEFAULT_MODEL = "en-de"


def load(model: str | Path = DEFAULT_MODEL, *others: str | Path) -> Any:
    """Open a model folder, the folder of a run, or a model that ships, by its path or name; `hub:owner/name` is a model
    of the Hugging Face hub, which is fetched once.

    Returns the object for its task: one with `translate`, `summarize`, `generate`, `classify`, `detect`, `tag`,
    `answer`, `embed`, `fill` or `transcribe`. It runs in PyTorch, where it can be traced; a classifier, tagger, …
    that was quantised runs in ctranslate2. others: models of the same task that decide together with the first by
    their mean.
    """
    from clearformer.inference.engines import open_bundle
    from clearformer.interop.hub_models import here
    from clearformer.tasks.in_use import in_use

    return in_use(*(open_bundle(here(one)) for one in (model, *others)))


def import_checkpoint(
    source: str | Path,
    out: str | Path | None = None,
    *,
    family: str | None = None,
    split: str | None = None,
    languages: tuple[str, str] | None = None,
) -> Any:
    """Open a published checkpoint, ready to use; with `out`, also keep it there as a model folder. `hub:owner/name` is
    fetched, and kept at `out`.

    Which method it has follows from its head, as for `load`. split: where vocab.txt lists whole tokens, the pattern
    that finds them in a text. languages: of a translator among many, from which to which.
    """
    from clearformer.interop import importer
    from clearformer.interop.hub_models import import_asked
    from clearformer.tasks.in_use import in_use

    told: dict[str, Any] = {"split": split, "languages": languages}
    if (made := import_asked(source, out, family, **told)) is not None:
        return in_use(made)
    found = importer.read_checkpoint(Path(source), family, **told).bundle if out is None else None
    return in_use(found or importer.import_checkpoint(Path(source), Path(str(out)), family, **told))


def translate(
    texts: str | Sequence[str], model: str | Path = DEFAULT_MODEL, *, any_language: bool = False, **choices: Any
) -> "list[Translation]":
    """Translate in one call, by the fastest engine that can; `load` once and keep the model for more than that.

    any_language: also texts that seem to be in another language than the model reads; else they stay as they are.
    """
    from clearformer.inference.engines import open_translator
    from clearformer.inference.translation_settings import DecodingConfig
    from clearformer.interop.hub_models import here

    config = DecodingConfig(**choices)
    translator = open_translator(here(model), "auto", config, scores="tokens")
    return translator.translate(texts, config, any_language=any_language)


def build_index(
    files: "str | Path | Sequence[str | Path]",
    folder: str | Path,
    *,
    model: str | Path | None = None,
    by: "Unit" = "passage",
) -> "SearchIndex":
    """Build a search index over files and folders, keep it at `folder`, and return it, ready to `ask`.

    by: what one result is, a passage, a line or a file. model: an encoder; without one, words alone are found.
    """
    from clearformer.interop.hub_models import here
    from clearformer.retrieval.build_index import build_index as build

    given = [files] if isinstance(files, str | Path) else files
    return build(given, folder, model=None if model is None else here(model), unit=by)


def open_index(folder: str | Path, *, model: str | Path | None = None) -> "SearchIndex":
    """Open a search index; `ask` it a question. model: where its model lies now, if it has been moved."""
    from clearformer.interop.hub_models import here
    from clearformer.retrieval.search_index import open_index as open_folder

    return open_folder(folder, model=None if model is None else here(model))


def train(
    recipe: str | Path | None = None,
    changes: Mapping[str, Any] | None = None,
    *,
    data: str | Path | Sequence[str | Path] | None = None,
    start: str | Path | None = None,
    out: str | Path,
    resume: bool = False,
    minutes: float | None = None,
) -> Path:
    """Train as a recipe file (or a shipped recipe's name) says, or on `data` with everything chosen; returns the
    finished model folder.

    changes: values by dotted key, such as {"training.steps": 500}. start: a model to begin with instead of from
    scratch. minutes: about how long it may take.
    """
    from clearformer.foundation import settings
    from clearformer.run.automatic import choose
    from clearformer.run.recipe import begun_with, find_recipe, parse_recipe
    from clearformer.run.train import train as run

    if (recipe is None) == (data is None):
        raise ValueError("give either a recipe or data to train on")
    if data is not None:
        files = [Path(one) for one in ([data] if isinstance(data, str | Path) else data)]
        choose(files, Path(out), start=start)
        path = Path(out) / "recipe.toml"
    else:
        path = find_recipe(str(recipe))
    values = settings.read_toml(path)
    for key, value in (changes or {}).items():
        values = settings.lay(values, key, value)
    parsed = parse_recipe(values, str(path), base=path.parent)
    parsed = parsed if start is None or data is not None else begun_with(parsed, start)
    return run(parsed, Path(out), resume=resume, base=path.parent, minutes=minutes)
