"""A probability follows from log-probability and length; a folder without weights, or with odd ones, says nothing."""

import math
from dataclasses import replace

import pytest

from clearformer.inference.sentence_confidence import Confidence, UnsureRemarks, features, probability
from clearformer.inference.translation_settings import Translation, untouched

ONE = Translation(text="ja", score=-0.5, log_prob=-1.0, tokens=("ja",), token_log_probs=(), ids=(7,))


def test_by_hand():
    assert features(-1.0, 1) == (1.0, -0.5, math.log(2), -0.5 * math.log(2))
    assert probability((0.0, 2.0, 0.0, 0.0), features(-1.0, 1)) == pytest.approx(1 / (1 + math.e))
    assert Confidence({"confidence": {"weights": [0, 2, 0, 0]}}).of(ONE) == pytest.approx(1 / (1 + math.e))


@pytest.mark.parametrize(
    "said", [None, {}, {"weights": [1, 2]}, {"weights": "1234"}, {"weights": [1, 2, 3, math.inf]}, [1, 2, 3, 4]]
)
def test_odd_weights_are_none(said: object):
    confidence = Confidence({"confidence": said})
    assert not confidence.known
    assert confidence.of(ONE) is None


def test_what_was_not_translated_or_not_scored_has_none():
    confidence = Confidence({"confidence": {"weights": [0, 2, 0, 0]}})
    assert confidence.of(untouched("ja")) is None
    assert confidence.of(replace(ONE, log_prob=math.nan)) is None


def test_one_remark_names_the_first():
    remarks = UnsureRemarks()
    for number, sure in enumerate([0.9, 0.1, None, 0.15, 0.0, 0.19, 0.2]):
        remarks.see(f"text {number}", sure)
    assert remarks.remark() == (
        "4 of 6 translations are probably bad; the chance to be good: "
        "text 1 (10%), text 3 (15%), text 4 (0%) and 1 more"
    )
    assert UnsureRemarks().remark() is None
