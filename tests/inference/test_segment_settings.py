"""Options of segment: out of bounds is refused with the name."""

import pytest

from clearformer.inference.segment_settings import SegmentConfig


@pytest.mark.parametrize("change", [{"threshold": 1.5}, {"threshold": -0.1}, {"smallest": -1}, {"batch": 0}])
def test_what_is_out_of_bounds_is_refused_by_name(change):
    with pytest.raises(ValueError, match=next(iter(change))):
        SegmentConfig(**change)


def test_the_defaults_are_within_their_own_bounds():
    assert SegmentConfig() == SegmentConfig(threshold=0.5, smallest=0, batch=8)
