"""clearformer evaluate --calibrate: teach a translator's folder how probable it is that a translation is a good one."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearformer.cli.usage import UsageError

if TYPE_CHECKING:
    from clearformer.evaluation.logistic_fit import LogisticFit
    from clearformer.inference.translation_settings import DecodingConfig

GOOD = 60.0  # chrF2 of a sentence that counts as good


def check_calibration(arguments: argparse.Namespace) -> None:
    """Refuse what would spoil a test set, or calibrates nothing."""
    if arguments.data or not (arguments.source and arguments.reference):
        raise UsageError(
            "--calibrate fits to the sentences that it is given, so it takes a development set: --source FILE "
            "--reference FILE"
        )
    if arguments.others:
        raise UsageError("--calibrate is for one model alone; leave --with out")


def calibrate(arguments: argparse.Namespace, config: "DecodingConfig") -> None:
    """Translate a development set, fit, keep the weights in the folder, print how true they are."""
    from clearformer.cli.evaluate import read_test_set
    from clearformer.cli.progress import progress_bar
    from clearformer.evaluation.bleu import sentence_chrf
    from clearformer.evaluation.logistic_fit import fit_halves
    from clearformer.folder.description import find_model
    from clearformer.folder.provenance import remember
    from clearformer.inference.engines import open_translator
    from clearformer.inference.sentence_confidence import KEY, features

    check_calibration(arguments)
    folder = find_model(arguments.model)
    translator = open_translator(folder, arguments.engine, config, scores="total")
    given = read_test_set(arguments, translator.provenance)
    with progress_bar("translating") as show, given.naming_places():
        found = translator.translate(given.sources, config, on_progress=show, any_language=True)
    scores = sentence_chrf([one.text for one in found], given.references)
    rows = [(one, score) for one, score in zip(found, scores, strict=True) if one.ids]
    threshold = GOOD if arguments.good is None else arguments.good
    fit = fit_halves(
        [features(one.log_prob, len(one.ids)) for one, _ in rows], [score >= threshold for _, score in rows]
    )
    remember(folder, KEY, _facts(fit, arguments.source, threshold))
    _show(arguments, fit, threshold, folder)


def _facts(fit: "LogisticFit", source: Path, threshold: float) -> dict[str, Any]:
    return {
        "event": f"chrF2 of the sentence is at least {threshold:g}",
        "weights": [round(one, 6) for one in fit.weights],
        "error": round(fit.error, 4),
        "auc": round(fit.auc, 4),
        "data": source.name,
        "fitted": fit.fitted,
        "held_out": fit.held_out,
    }


def _show(arguments: argparse.Namespace, fit: "LogisticFit", threshold: float, folder: Path) -> None:
    if arguments.json:
        print(json.dumps({**asdict(fit), "threshold": threshold}, indent=2))
        return
    print(f"good                a sentence with chrF2 of at least {threshold:g}: {fit.share:.1%} of those held out")
    print(f"calibration error   {fit.error:.4f}   (10 bins, {fit.held_out} sentences that were not fitted)")
    print(f"told apart          {fit.auc:.1%} of pairs of a good and a bad one have the good one surer")
    print(f"kept in {folder}")
