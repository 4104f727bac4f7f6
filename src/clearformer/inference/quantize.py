"""Weights in eight bits: a quarter of the size, faster on most CPUs, and not worse by more than one allows.

Rounding hurts some models and not others, so nothing is believed: both versions translate the same test set, and the
smaller one is kept only if its score stays within the limit.
"""

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from clearformer.evaluation.bleu import score_translations
from clearformer.folder.description import open_folder
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.inference.ctranslate2 import CTranslate2Translator
from clearformer.inference.engines import converted, open_translator
from clearformer.inference.shortlist import learn
from clearformer.inference.translation_settings import DecodingConfig, usual_search
from clearformer.interop.to_ctranslate2 import Quantization, convert, token_names

LIMIT = 0.5  # BLEU that may be lost


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One version of a model: how large, how fast, how good."""

    bytes: int
    sentences_per_second: float
    bleu: float


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A model before and after, over the same sentences."""

    before: Measured
    after: Measured
    sentences: int

    @property
    def lost(self) -> float:
        """BLEU that the smaller model has less; below zero if it gained."""
        return self.before.bleu - self.after.bleu


def quantize(
    folder: Path,
    out: Path,
    sources: Sequence[str],
    references: Sequence[str],
    *,
    limit: float = LIMIT,
    quantization: Quantization = "int8",
    pairs: tuple[Sequence[str], Sequence[str]] | None = None,
    config: DecodingConfig | None = None,
    on_progress: OnProgress = unwatched,
) -> Comparison:
    """Write a model folder in fewer bits for the fast engine, or, where it loses more than `limit` BLEU, nothing.

    pairs: sentences with their translations, from which a vocabulary shortlist is learned.
    """
    if out.exists():
        raise ValueError(f"{out} exists already; choose another name or remove it")
    if len(sources) != len(references) or not sources:
        raise ValueError(f"{len(sources)} sentences and {len(references)} references: give as many, and at least one")
    out.parent.mkdir(parents=True, exist_ok=True)
    total = 2 * len(sources)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as aside:
        small = Path(aside) / "model"
        convert(
            folder,
            small,
            quantization=quantization,
            shortlist=None if pairs is None else shortlist_learner(folder, pairs),
        )
        chosen = config or usual_search(open_folder(folder).provenance)
        before = measure(converted(folder).path, sources, references, chosen, lambda n, _: on_progress(n, total))
        after = measure(small, sources, references, chosen, lambda n, _: on_progress(len(sources) + n, total))
        found = Comparison(before=before, after=after, sentences=len(sources))
        if found.lost > limit:
            raise ValueError(
                f"{quantization} costs {found.lost:.2f} BLEU ({before.bleu:.2f} before, {after.bleu:.2f} after), more "
                f"than the {limit:.2f} allowed; nothing was written. Raise --limit if that is good enough"
            )
        small.rename(out)
    return found


def shortlist_learner(folder: Path, pairs: tuple[Sequence[str], Sequence[str]]) -> Callable[[Path], None]:
    """What writes the shortlist of a model folder's vocabularies."""
    opened = open_folder(folder)
    model = opened.description.model
    source, target = opened.preprocessing.sides
    ends = (source.eos_id,)  # as every source has it
    learned = learn(
        [[*row, *ends] for row in source.ids(list(pairs[0]), add_special=False)],
        target.ids(list(pairs[1]), add_special=False),
    )
    names = token_names(source, model["vocab_size"])
    target_names = token_names(target, model.get("target_vocab_size") or model["vocab_size"])
    return lambda path: learned.write(path, names, target_names)


def measure(
    folder: Path,
    sources: Sequence[str],
    references: Sequence[str],
    config: DecodingConfig,
    on_progress: OnProgress = unwatched,
) -> Measured:
    """Translate a test set with a folder of the fast engine."""
    translator = open_translator(folder, "ctranslate2", config, scores="none")
    assert isinstance(translator, CTranslate2Translator)
    translator.translate(
        sources[: config.batch], config, any_language=True
    )  # the first batch also fills caches and is not counted
    started = time.perf_counter()
    found = [one.text for one in translator.translate(sources, config, on_progress=on_progress, any_language=True)]
    taken = time.perf_counter() - started
    facts = translator.provenance
    score = score_translations(found, references, language=facts.get("target_language"), tokenise=facts.get("tokenise"))
    return Measured(
        bytes=(folder / "model.bin").stat().st_size, sentences_per_second=len(sources) / taken, bleu=score.bleu
    )
