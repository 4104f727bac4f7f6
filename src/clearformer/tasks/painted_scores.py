"""What painted pictures are worth: read by a judge, learned from by another, compared with real ones as a crowd."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from clearformer.evaluation.accuracy import score_classes
from clearformer.evaluation.painted import frechet_distance, nearest
from clearformer.folder.description import ModelFolder
from clearformer.inference.painter import Painter
from clearformer.tasks.picture_judge import Judge, train_judge
from clearformer.tasks.picture_parts import PicturePart, evaluated_part, pixel_table, training_part
from clearformer.tasks.task import Judging, Scores

NEEDS = 20  # pictures of each part, below which nothing is compared


@dataclass(frozen=True, kw_only=True)
class PaintedScoring:
    """How painted pictures are judged."""

    samples: int = field(default=5000, metadata={"help": "pictures that are painted to be judged, of all classes"})
    judge: str = field(
        default="", metadata={"help": "a classifier's folder, which reads the class; empty: one is trained"}
    )
    judge_steps: int = field(default=1000, metadata={"help": "how long a judge is trained, in batches of 128"})

    def __post_init__(self) -> None:
        for name in ("samples", "judge_steps"):
            if getattr(self, name) < 1:
                raise ValueError(f"scoring.{name} must be at least 1, not {getattr(self, name)}")


@dataclass(frozen=True, kw_only=True)
class RealPictures:
    """A test part with its classes, and what the painter learned from; None where that is gone."""

    test: PicturePart
    learned: PicturePart | None = None


def real_pictures(files: Sequence[Path], folder: ModelFolder) -> RealPictures:
    """A test set: a folder of classes, or two idx files."""
    test, known = evaluated_part(files, folder), folder.preprocessing.labels
    if strange := sorted(set(test.labels) - set(known)):
        raise ValueError(
            f"{files[0]} has the class {strange[0]!r}, and the model paints {', '.join(known)}: give classes, too"
        )
    return RealPictures(test=test, learned=training_part(folder))


def score_paintings(painter: Painter, real: RealPictures, judging: Judging) -> Scores:
    """Paint, and let judges look. accuracy: how often the class that was asked for is read; cas: how often a judge that
    has seen painted pictures alone reads the class of a real one (Ravuri and Vinyals, 2019).
    """
    scoring: PaintedScoring = judging.scoring
    count = -(-scoring.samples // len(painter.labels))
    painted = painter.paint((), judging.options, count=count, on_progress=judging.on_progress)
    part = PicturePart(pixels=[one.pixels for one in painted], labels=[one.label for one in painted])
    judge = _judge(scoring, painter, real)
    scores: dict[str, Any] = dict(score_classes(judge.read(part.pixels), part.labels))
    scores |= {"judge_accuracy": score_classes(judge.read(real.test.pixels), real.test.labels)["accuracy"]}
    pupil = train_judge(part, painter.labels, steps=scoring.judge_steps)
    learned = score_classes(pupil.read(real.test.pixels), real.test.labels)
    scores |= {f"cas{end}": learned[f"accuracy{end}"] for end in ("", "_low", "_high")}
    scores |= {"signature": f"{len(part):,} painted pictures; 95 % intervals by Wilson"}
    return scores | _crowds(judge, part, real)


def _judge(scoring: PaintedScoring, painter: Painter, real: RealPictures) -> Judge:
    if scoring.judge:
        return Judge.open(scoring.judge, painter.labels)
    if real.learned is None:
        raise ValueError(
            "nothing is there to train a judge with: the training pictures are not beside the model; name a "
            "classifier's folder with --judge"
        )
    return train_judge(real.learned, painter.labels, steps=scoring.judge_steps)


def _crowds(judge: Judge, part: PicturePart, real: RealPictures) -> dict[str, float]:
    """Distances in the judge's features, and to the nearest training picture, beside those of real pictures."""
    if min(len(part), len(real.test)) < NEEDS:
        return {}
    test = judge.features(real.test.pixels)
    scores = {"frechet": frechet_distance(judge.features(part.pixels), test)}
    if real.learned is None or len(real.learned) < NEEDS:
        return scores
    draw = np.random.default_rng(1)
    some = draw.choice(len(real.learned), min(len(test), len(real.learned)), replace=False)
    scores["frechet_floor"] = frechet_distance(judge.features([real.learned.pixels[row] for row in some]), test)
    table = pixel_table(real.learned)
    few = [part.pixels[row] for row in draw.choice(len(part), min(1000, len(part)), replace=False)]
    ours = nearest(pixel_table(PicturePart(pixels=few, labels=[""] * len(few))), table)
    theirs = nearest(pixel_table(real.test.first(1000)), table)
    scores["nearest"] = float(np.median(ours.distances))
    scores["nearest_of_test"] = float(np.median(theirs.distances))
    return scores
