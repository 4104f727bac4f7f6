"""What the knobs show is what the formulas say."""

import base64
import math

import numpy as np
import pytest
import torch

from clearformer.studio.lab_knobs import turn_distance, turn_schedule, turn_softmax, turn_temperature
from clearformer.training.schedule import ScheduleConfig


def unpack(packed):
    return np.frombuffer(base64.b64decode(packed["f32"]), "<f4").reshape(packed["shape"])


@pytest.mark.parametrize("width", [4, 256])
def test_scores_have_the_variance_of_the_width_and_one_behind_the_division(width):
    assert turn_softmax(width, 1.0, scaled=False)["variance"] == pytest.approx(width, rel=0.1)
    assert turn_softmax(width, 1.0, scaled=True)["variance"] == pytest.approx(1, rel=0.1)
    assert turn_softmax(width, 2.0, scaled=True)["variance"] == pytest.approx(0.25, rel=0.1)


def test_wide_unscaled_scores_saturate():
    wide, scaled = (turn_softmax(1024, 1.0, scaled=scaled) for scaled in (False, True))
    assert wide["largest"] > 0.9 > 0.5 > scaled["largest"]
    assert wide["gradient"] < scaled["gradient"] / 3
    assert sum(wide["weights"]) == pytest.approx(1, abs=1e-5)
    assert turn_softmax(1024, 1.0, scaled=False) == wide


@pytest.mark.parametrize("kind", ["rotary", "alibi", "buckets", "shaw", "relative", "none"])
def test_relative_schemes_see_the_distance_alone(kind):
    found = turn_distance(kind)
    assert found["apart"] < 1e-4
    spread = np.ptp(found["series"][-1]["scores"])
    assert spread < 1e-5 if kind == "none" else spread > 1e-3


@pytest.mark.parametrize("kind", ["sinusoidal", "learned"])
def test_absolute_schemes_do_not(kind):
    assert turn_distance(kind)["apart"] > 0.1


def test_alibi_falls_in_a_straight_line():
    scores = turn_distance("alibi")["series"][-1]["scores"]
    assert np.allclose(np.diff(scores), scores[1] - scores[0], atol=1e-4)
    assert scores[1] < scores[0]


def test_the_paper_s_peak():
    found = turn_schedule(ScheduleConfig(warmup=4000), 512)
    assert found["peak"] == pytest.approx(6.987712e-4, rel=1e-6)
    assert [4000, found["peak"]] in found["points"]


def test_a_temperature_of_one_changes_nothing_and_others_sharpen_or_flatten():
    weights = torch.tensor([[1.0, 0.0, 0.0], [0.25, 0.75, 0.0], [0.2, 0.3, 0.5]])
    assert np.allclose(unpack(turn_temperature(weights, 1.0)["weights"]), weights, atol=1e-6)
    cold, warm = turn_temperature(weights, 0.5), turn_temperature(weights, 5.0)
    assert unpack(cold["weights"])[1] == pytest.approx([0.1, 0.9, 0.0])
    assert cold["bits"] < warm["bits"] < warm["most_bits"] == pytest.approx(math.log2(3))
    assert unpack(warm["weights"])[0] == pytest.approx([1, 0, 0])  # what was hidden stays hidden


def test_a_query_that_looks_nowhere_stays_empty():
    assert unpack(turn_temperature(torch.zeros(1, 3), 2.0)["weights"]).tolist() == [[0, 0, 0]]
