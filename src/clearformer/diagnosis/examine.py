"""Open a run or a model, collect the evidence, and say what is wrong."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from clearformer.data.shards import Shards
from clearformer.data.token_pairs import SPECIALS_PER_SIDE
from clearformer.diagnosis.behaviour import Pairs, judge_behaviour, observe
from clearformer.diagnosis.finding import Symptom
from clearformer.diagnosis.found_classes import judge_classes, measure_classes, read_classes
from clearformer.diagnosis.history import judge_history, read_history
from clearformer.diagnosis.text import judge_fit, judge_overlap, judge_tables, measure_fit
from clearformer.folder import bundle
from clearformer.folder.description import open_folder, read_description
from clearformer.foundation import storage
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.inference.translator import Translator
from clearformer.run.opened_run import open_run
from clearformer.run.recipe import Recipe, read_recipe
from clearformer.tasks.translation import ParallelData, locate
from clearformer.text.doctor.parallel import read_lines

SENTENCES = 200  # enough for shares and means, and done within a minute


HIDDEN = ("train", "dev", "gradients")


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What was measured, and what is wrong."""

    measures: dict[str, Any]
    findings: list[Symptom]

    def as_plain(self) -> dict[str, Any]:
        """For JSON."""
        return {"measures": self.measures, "findings": [asdict(finding) for finding in self.findings]}


def diagnose(
    folder: Path,
    *,
    source: Path | None = None,
    reference: Path | None = None,
    on_progress: OnProgress = unwatched,
) -> Diagnosis:
    """Examine the folder of a run, or of a model together with sentences and their translations."""
    if (source is None) != (reference is None):
        raise ValueError("--source and --reference belong together: output is judged beside a translation by people")
    given = _read_pairs(source, reference) if source is not None and reference is not None else None
    if (folder / "recipe.toml").is_file():
        return _diagnose_run(folder, given, on_progress)
    if (refused := _refused(folder)) is not None:
        return Diagnosis(measures={}, findings=[refused])
    if given is None:
        run = folder.parent if (folder.parent / "recipe.toml").is_file() else "its run"
        raise ValueError(f"{folder} is a model alone: give {run}, or sentences with --source and --reference")
    return _diagnose_model(Translator(bundle.load(folder)), given, on_progress)


def _diagnose_model(translator: Translator, pairs: Pairs, on_progress: OnProgress) -> Diagnosis:
    language = translator.bundle.provenance.get("target_language")
    behaviour = observe(translator, pairs, language=language, on_progress=on_progress)
    findings = [*_check_tables(translator), *_check_fit(translator, pairs, None), *judge_behaviour(behaviour)]
    return Diagnosis(measures=asdict(behaviour), findings=findings)


def _diagnose_run(run: Path, given: Pairs | None, on_progress: OnProgress) -> Diagnosis:
    recipe = read_recipe(run / "recipe.toml")
    if not isinstance(recipe.data, ParallelData):
        return _diagnose_records(run, recipe, given)
    files = locate(recipe.data, run)
    shards = Shards(run / "shards", verify=False)
    history = read_history(
        run, planned=recipe.training.steps, tokens_in_corpus=int((shards.lengths("target") + SPECIALS_PER_SIDE).sum())
    )
    if (run / "model").exists() and (refused := _refused(run / "model")) is not None:
        return Diagnosis(measures=_plain(history), findings=[refused])
    translator = Translator(open_run(run))
    training = _sample(translator, shards)
    pairs = given or _read_pairs(files.dev_source, files.dev_target)
    behaviour = observe(
        translator,
        pairs,
        training=training,
        language=recipe.data.target_language,
        tokenise=recipe.scoring.tokenise,
        decoding=recipe.use,
        on_progress=on_progress,
    )
    findings = [
        *_check_tables(translator),
        *judge_overlap(files),
        *judge_history(history),
        *_check_fit(translator, pairs, training),
        *judge_behaviour(behaviour),
    ]
    return Diagnosis(measures={**_plain(history), **asdict(behaviour)}, findings=_once(findings))


def _diagnose_records(run: Path, recipe: Recipe, given: Pairs | None) -> Diagnosis:
    """A run of any task: how its losses went, and which classes its model finds."""
    if given is not None:
        raise ValueError(f"the run in {run} is one of {recipe.task}, and --source and --reference are for translators")
    history = read_history(run, planned=recipe.training.steps)
    if (run / "model").exists() and (refused := _refused(run / "model")) is not None:
        return Diagnosis(measures=_plain(history), findings=[refused])
    classes = read_classes(run)
    return Diagnosis(
        measures=_plain(history) | measure_classes(classes), findings=[*judge_history(history), *judge_classes(classes)]
    )


def _refused(model: Path) -> Symptom | None:
    """A model that is damaged, or that lies beside the wrong vocabulary, does not open: that is the finding."""
    read_description(model)  # what is no model folder at all is an error, not a finding
    remedy = "Put back the files that were saved with the model."
    try:
        storage.verify(model)
        _ = open_folder(model).preprocessing
    except storage.DamagedError as error:
        return Symptom(name="damaged", says=str(error), remedy=remedy)
    except ValueError as error:
        return Symptom(name="vocabulary-mismatch", says=str(error), remedy=remedy)
    return None


def _check_tables(translator: Translator) -> list[Symptom]:
    config = translator.bundle.config
    source, target = translator.source_tokenizer.vocab_size, translator.target_tokenizer.vocab_size
    rows = config.target_vocab_size or config.vocab_size
    return [
        *judge_tables(rows=config.vocab_size, pieces=source, side="source"),
        *(judge_tables(rows=rows, pieces=target, side="target") if translator.bundle.target_tokenizer else []),
    ]


def _check_fit(translator: Translator, pairs: Pairs, training: Pairs | None) -> list[Symptom]:
    known = (None, None) if training is None else (training.sources, training.references)
    fits = (
        measure_fit("source", translator.source_tokenizer, pairs.sources, known[0]),
        measure_fit("reference", translator.target_tokenizer, pairs.references, known[1]),
    )
    return [finding for fit in fits for finding in judge_fit(fit)]


def _sample(translator: Translator, shards: Shards) -> Pairs:
    """A sample of the training text, taken evenly from all of it, as it was trained on."""
    rows = np.linspace(0, len(shards) - 1, num=min(SENTENCES, len(shards)), dtype=np.int64)
    picked = [shards[int(row)] for row in rows]
    return Pairs(
        sources=translator.source_tokenizer.decode_batch(source.tolist() for source, _ in picked),
        references=translator.target_tokenizer.decode_batch(target.tolist() for _, target in picked),
    )


def _read_pairs(source: Path, reference: Path) -> Pairs:
    """As many pairs as are examined, taken evenly from all of the files."""
    sources, references = list(read_lines(source)), list(read_lines(reference))
    if len(sources) != len(references):
        raise ValueError(f"{source} has {len(sources)} lines but {reference} has {len(references)}; they must be equal")
    kept = [pair for pair in zip(sources, references, strict=True) if pair[0].strip() and pair[1].strip()]
    if len(kept) < 2:
        raise ValueError(
            f"{source} and {reference} have fewer than 2 pairs with text on both sides; give more sentences"
        )
    picked = [kept[int(row)] for row in np.linspace(0, len(kept) - 1, num=min(SENTENCES, len(kept)))]
    return Pairs(sources=[pair[0] for pair in picked], references=[pair[1] for pair in picked])


def _plain(history: Any) -> dict[str, Any]:
    """The numbers of a history; its curves are in the run's metrics.jsonl, and end here."""
    ends = {f"last_{name}_loss": curve[-1][1] for name in ("train", "dev") if (curve := getattr(history, name))}
    return {name: value for name, value in asdict(history).items() if name not in HIDDEN and value is not None} | ends


def _once(findings: list[Symptom]) -> list[Symptom]:
    """One finding per name: the same problem found in two ways is one, with the evidence of both."""
    merged: dict[str, Symptom] = {}
    for finding in findings:
        before = merged.get(finding.name)
        evidence = {**(before.evidence if before else {}), **finding.evidence}
        first = before or finding
        merged[finding.name] = Symptom(name=first.name, says=first.says, remedy=first.remedy, evidence=evidence)
    return list(merged.values())
