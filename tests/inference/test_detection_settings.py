"""Options out of bounds are refused by name."""

import pytest

from clearformer.inference.detection_settings import DetectionConfig


@pytest.mark.parametrize(
    "wrong", [{"threshold": 1.5}, {"threshold": -0.1}, {"most": 0}, {"duplicates": 2}, {"batch": 0}]
)
def test_out_of_bounds(wrong):
    [name] = wrong
    with pytest.raises(ValueError, match=name):
        DetectionConfig(**wrong)


def test_nothing_said_is_the_model_s_own_choice():
    assert DetectionConfig().threshold is None
    assert DetectionConfig().duplicates is None
