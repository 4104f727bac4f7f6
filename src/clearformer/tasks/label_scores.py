"""How a classifier of texts is judged: its scores, the temperature and threshold that suit it, and its mistakes."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from clearformer.evaluation.accuracy import score_classes
from clearformer.evaluation.calibration import calibration_error, settle_temperature
from clearformer.evaluation.correlation import score_numbers
from clearformer.evaluation.label_sets import Marks, as_marks, best_threshold, score_label_sets
from clearformer.evaluation.report import ClassScore, ErrorReport, Mistake, confuse, score_by_class, worst
from clearformer.inference.text_readers import Classifier, likely
from clearformer.inference.text_windows import TextOrPair
from clearformer.tasks.task import Judging, Scores, Settled

Rows = Sequence[Sequence[float]]  # for each text the probability of each label, or its number
LEAST = 20  # examples, below which nothing is fitted


@dataclass(frozen=True, kw_only=True)
class HeldTexts:
    """Texts, or pairs of texts, with their labels as a table has them, and where they stand."""

    texts: list[TextOrPair]
    labels: list[str]
    places: list[str]


def score(classifier: Classifier, held: HeldTexts, judging: Judging) -> Scores:
    """Accuracy, F1 of labels or correlation; with intervals and the calibration error if asked thoroughly."""
    count = len(held.texts) if judging.thorough else judging.scoring.examples
    mine = judging.ranks.share_out(held.texts[:count])
    rows = judging.ranks.collect(classifier.results(mine, judging.options))
    return _scores(classifier, rows, held.labels[:count], thorough=judging.thorough)


def _scores(classifier: Classifier, rows: Rows, wanted: Sequence[str], *, thorough: bool) -> Scores:
    outcome = classifier.outcome
    if outcome.kind == "number":
        return score_numbers([row[0] for row in rows], list(map(float, wanted)), interval=thorough)
    if outcome.kind == "several":
        marks, true = np.array(rows) >= outcome.threshold, _wanted_marks(classifier, wanted)
        return score_label_sets(marks, true, interval=thorough)
    best = [max(range(len(row)), key=row.__getitem__) for row in rows]
    found = [classifier.labels[place] for place in best]
    scores = score_classes(found, wanted)
    if not thorough:
        return {name: scores[name] for name in ("accuracy", "macro_f1") if name in scores}
    sure = [row[place] for row, place in zip(rows, best, strict=True)]
    error = calibration_error(sure, list(map(str.__eq__, found, wanted)))
    return {**scores, "ece": error}


def _wanted_marks(classifier: Classifier, wanted: Sequence[str]) -> Marks:
    return as_marks([json.loads(cell) for cell in wanted], classifier.labels)


def settle(classifier: Classifier, held: HeldTexts, judging: Judging) -> Settled:
    """The temperature that makes the probabilities of the development set true; for several labels, the threshold."""
    outcome = classifier.outcome
    if outcome.kind == "number" or len(held.texts) < LEAST:
        return Settled(outcome=outcome, said="probabilities are left as they are: there is nothing to fit them on")
    read = classifier.logits(held.texts, judging.options)
    if outcome.kind == "several":
        shares = np.array([likely(one, outcome).tolist() for one in read])
        threshold = best_threshold(shares, _wanted_marks(classifier, held.labels))
        said = f"threshold: labels of at least {threshold:.2f} are given, which has the best micro F1 on dev"
        return Settled(outcome=replace(outcome, threshold=threshold), said=said)
    goals = [classifier.labels.index(label) for label in held.labels]

    def mean_loss(temperature: float) -> float:
        there = replace(outcome, temperature=temperature)
        shares = [float(likely(one, there)[goal]) for one, goal in zip(read, goals, strict=True)]
        return -float(np.log(np.maximum(shares, 1e-12)).mean())

    def error(temperature: float) -> float:
        rows = torch.stack([likely(one, replace(outcome, temperature=temperature)) for one in read])
        best = rows.max(dim=-1)
        return calibration_error(best.values.tolist(), (best.indices == torch.tensor(goals)).tolist())

    found, said = settle_temperature(mean_loss, error)
    return Settled(outcome=replace(outcome, temperature=found), said=said)


def report(classifier: Classifier, held: HeldTexts, judging: Judging) -> ErrorReport:
    """Scores, classes, confusions and the surest mistakes."""
    rows = classifier.results(held.texts, judging.options)
    scores = _scores(classifier, rows, held.labels, thorough=True)
    if classifier.outcome.kind == "number":
        return _report_numbers([row[0] for row in rows], held, scores)
    if classifier.outcome.kind == "several":
        return _report_sets(classifier, np.array(rows), held, scores)
    best = [max(range(len(row)), key=row.__getitem__) for row in rows]
    found = [classifier.labels[place] for place in best]
    mistakes = [
        Mistake(text=_shown(text), wanted=wanted, found=said, probability=row[place], place=where)
        for text, wanted, where, said, row, place in zip(
            held.texts, held.labels, held.places, found, rows, best, strict=True
        )
        if said != wanted
    ]
    return ErrorReport(
        scores=scores,
        classes=score_by_class(found, held.labels),
        confusion=confuse(zip(held.labels, found, strict=True)),
        mistakes=worst(mistakes),
        mistaken=len(mistakes),
    )


def _report_sets(classifier: Classifier, rows: NDArray[np.float64], held: HeldTexts, scores: Scores) -> ErrorReport:
    """Each wrong label of a text is a mistake: one that was given and should not be, or the other way round."""
    wanted = _wanted_marks(classifier, held.labels)
    found = rows >= classifier.outcome.threshold
    mistakes = [
        Mistake(
            text=_shown(held.texts[row]),
            wanted=f"no {classifier.labels[label]}" if found[row, label] else classifier.labels[label],
            found=classifier.labels[label] if found[row, label] else f"no {classifier.labels[label]}",
            probability=float(rows[row, label] if found[row, label] else 1 - rows[row, label]),
            place=held.places[row],
        )
        for row, label in np.argwhere(found != wanted)
    ]
    classes = [
        ClassScore(
            name=label,
            precision=float(right / said) if said else 0.0,
            recall=float(right / true) if true else 0.0,
            f1=float(2 * right / (said + true)) if said + true else 0.0,
            count=int(true),
            found=int(said),
        )
        for label, right, said, true in zip(
            classifier.labels, (found & wanted).sum(0), found.sum(0), wanted.sum(0), strict=True
        )
    ]
    classes.sort(key=lambda one: -one.count)
    return ErrorReport(scores=scores, classes=classes, mistakes=worst(mistakes), mistaken=len(mistakes))


def _report_numbers(found: Sequence[float], held: HeldTexts, scores: Scores) -> ErrorReport:
    """The texts whose numbers are farthest off; of a number there is no probability, so they are said in words."""
    far = sorted(range(len(found)), key=lambda row: -abs(found[row] - float(held.labels[row])))[:10]
    notes = [
        f"  {found[row]:.2f} instead of {held.labels[row]}   {held.places[row]}: {_shown(held.texts[row])[:60]}"
        for row in far
    ]
    return ErrorReport(scores=scores, notes=["", "the numbers that are farthest off:", *notes])


def _shown(text: TextOrPair) -> str:
    return text if isinstance(text, str) else " ↔ ".join(text)
