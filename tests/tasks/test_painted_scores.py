"""Scores of painted pictures: a painter that copies real pictures has the best of them, and is seen to copy."""

from types import SimpleNamespace

import numpy as np
import pytest

from clearformer.inference.painter import Painting
from clearformer.inference.painting_settings import PaintingConfig
from clearformer.tasks.painted_scores import PaintedScoring, RealPictures, score_paintings
from clearformer.tasks.picture_parts import PicturePart
from clearformer.tasks.task import Judging
from clearformer.training.distributed import Ranks
from flows.tiny_tasks import drawn

LABELS = ("0", "1", "7")


def part(count, seed):
    pictures, digits = drawn(count, seed)
    return PicturePart(pixels=[one[..., None] for one in pictures], labels=[str(digit) for digit in digits])


def painter_of(pixels_of):
    """Somebody who paints whatever `pixels_of` says of a class and a number."""

    def paint(labels, options, *, count, on_progress):
        return [
            Painting(label=label, number=number, seed=1, pixels=pixels_of(label, number))
            for label in LABELS
            for number in range(count)
        ]

    return SimpleNamespace(labels=LABELS, paint=paint)


def judged(painter, real):
    scoring = PaintedScoring(samples=90, judge_steps=30)
    return score_paintings(
        painter, real, Judging(options=PaintingConfig(), scoring=scoring, ranks=Ranks(), thorough=True)
    )


@pytest.fixture(scope="module")
def real():
    return RealPictures(test=part(60, 2), learned=part(200, 1))


def test_a_copyist_scores_like_the_originals_and_is_found_out(real):
    by_class = {
        label: [one for one, kind in zip(real.learned.pixels, real.learned.labels, strict=True) if kind == label]
        for label in LABELS
    }
    scores = judged(painter_of(lambda label, number: by_class[label][number]), real)
    assert scores["accuracy"] > 0.95
    assert scores["cas"] > 0.9
    assert scores["cas_low"] <= scores["cas"] <= scores["cas_high"]
    assert scores["frechet"] < 3 * scores["frechet_floor"] + 0.5
    assert scores["nearest"] == 0 < scores["nearest_of_test"]


def test_noise_scores_badly(real):
    draw = np.random.default_rng(1)
    scores = judged(painter_of(lambda *_: draw.integers(0, 256, (8, 8, 1), dtype=np.uint8)), real)
    assert scores["accuracy"] < 0.7
    assert scores["cas"] < 0.8
    assert scores["frechet"] > 10 * scores["frechet_floor"]


def test_without_training_pictures_a_judge_has_to_be_named(real):
    with pytest.raises(ValueError, match="name a classifier's folder with --judge"):
        judged(painter_of(lambda *_: np.zeros((8, 8, 1), dtype=np.uint8)), RealPictures(test=real.test))


@pytest.mark.parametrize("wrong", [{"samples": 0}, {"judge_steps": 0}])
def test_numbers_that_cannot_be_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        PaintedScoring(**wrong)
