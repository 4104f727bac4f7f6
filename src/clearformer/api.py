"""The Python door: open a model, use it, train one.

What each way needs is imported when it is taken: who translates need not wait for what trains.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearformer.folder.description import DEFAULT_MODEL, find_model

if TYPE_CHECKING:
    from clearformer.folder.bundle import Bundle
    from clearformer.inference.text_generator import TextGenerator
    from clearformer.inference.text_readers import Answerer, Classifier, Embedder, Tagger
    from clearformer.inference.translation_settings import Translation
    from clearformer.inference.translator import Translator

    Model = Translator | TextGenerator | Classifier | Tagger | Answerer | Embedder


def load(model: str | Path = DEFAULT_MODEL, *others: str | Path) -> "Translator":
    """Open a model folder, or a model that ships with the package by its name, in PyTorch, where it can be traced.

    others: models over the same vocabulary that decide together with the first.
    """
    from clearformer.folder import bundle
    from clearformer.inference.translator_ensemble import translator_of

    return translator_of([bundle.load(find_model(one)) for one in (model, *others)])


def import_checkpoint(
    source: str | Path, out: str | Path | None = None, *, family: str | None = None, split: str | None = None
) -> "Model":
    """Open a published checkpoint, ready to use; with `out`, also keep it there as a model folder.

    Which verbs it has follows from its head: translate, generate, classify, tag, answer or embed.
    split: where vocab.txt lists whole tokens, the pattern that finds them in a text.
    """
    from clearformer.interop import importer

    found = importer.read_checkpoint(Path(source), family, split=split).bundle if out is None else None
    return in_use(found or importer.import_checkpoint(Path(source), Path(str(out)), family, split=split))


def in_use(made: "Bundle") -> "Model":
    """A model behind the verbs of its head."""
    from clearformer.inference.text_generator import TextGenerator
    from clearformer.inference.text_readers import Answerer, Classifier, Embedder, Tagger
    from clearformer.inference.translator import Translator

    kinds: dict[str, Any] = {"class": Classifier, "tags": Tagger, "span": Answerer, "states": Embedder}
    shape, head = made.config.shape, made.config.head.kind
    if head in kinds:
        return kinds[head](made)  # type: ignore[no-any-return]
    return TextGenerator(made) if shape == "decoder" else Translator(made)


def translate(texts: str | Sequence[str], model: str | Path = DEFAULT_MODEL, **choices: Any) -> "list[Translation]":
    """Translate in one call, by the fastest engine that can; `load` once and keep the model for more than that."""
    from clearformer.inference.engines import open_translator
    from clearformer.inference.translation_settings import DecodingConfig

    config = DecodingConfig(**choices)
    return open_translator(model, "auto", config, scores="tokens").translate(texts, config)


def train(
    recipe: str | Path, changes: Mapping[str, Any] | None = None, *, out: str | Path, resume: bool = False
) -> Path:
    """Train as a recipe file (or a shipped recipe's name) says; returns the finished model folder.

    changes: values by dotted key, such as {"training.steps": 500}.
    """
    from clearformer.foundation import settings
    from clearformer.run import train as running
    from clearformer.run.recipe import Recipe, find_recipe

    path = find_recipe(str(recipe))
    values = settings.read_toml(path)
    for key, value in (changes or {}).items():
        values = settings.lay(values, key, value)
    parsed = settings.parse(Recipe, values, str(path))
    return running.train(parsed, Path(out), resume=resume, base=path.parent)
