"""Position schemes as data."""

import base64

import numpy as np
import pytest

from clearformer.studio.schemes import Sizes, schemes


def unpack(packed):
    return np.frombuffer(base64.b64decode(packed["f32"]), "<f4").reshape(packed["shape"])


@pytest.fixture(scope="module")
def found():
    return schemes(Sizes(length=16, dim=8, heads=4))


def test_waves_are_the_paper_s(found):
    waves = unpack(found["sinusoidal"]["matrix"])
    assert waves[3, 0] == pytest.approx(np.sin(3), abs=1e-6)
    assert waves[3, 3] == pytest.approx(np.cos(3 / 10_000 ** (2 / 8)), abs=1e-6)


def test_likeness_falls_from_one_and_is_the_same_for_waves_and_rotation(found):
    waves, turned = unpack(found["sinusoidal"]["similarity"]), unpack(found["rotary"]["similarity"])
    assert waves[0] == pytest.approx(1)
    assert np.allclose(waves, turned, atol=1e-5)


def test_slopes_halve(found):
    assert unpack(found["alibi"]["slopes"]).tolist() == [0.25, 0.0625, 0.015625, 0.00390625]


def test_far_distances_share_buckets(found):
    buckets = dict(zip(found["buckets"]["distances"], found["buckets"]["backwards"], strict=True))
    assert buckets[1] == 1
    assert buckets[-5] == 0  # the future has no bucket of its own


def test_a_model_shows_what_it_learned_itself(all_handlers):
    assert schemes(Sizes(), all_handlers["bert"].shown_model)["own"]["kind"] == "learned"
    own = schemes(Sizes(length=8), all_handlers["t5"].shown_model)["own"]
    assert own["kind"] == "buckets"
    assert own["bias"]["shape"] == [4, 15]
    assert schemes(Sizes(), all_handlers["llama"].shown_model)["own"] is None
