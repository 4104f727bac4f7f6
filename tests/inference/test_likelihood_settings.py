"""How a likelihood is measured: what does not fit is refused by its name."""

import pytest

from clearformer.inference.likelihood_settings import LikelihoodConfig


@pytest.mark.parametrize(
    "values",
    [
        {"context": 0},
        {"stride": -1},
        {"cache": -1},
        {"cache": 10**7},
        {"cache_share": 1.0},
        {"cache_share": float("nan")},
        {"cache_theta": -1.0},
        {"dynamic": -0.1},
        {"dynamic_decay": 1.5},
    ],
)
def test_bounds_are_kept(values):
    with pytest.raises(ValueError, match=f"{next(iter(values))} must be"):
        LikelihoodConfig(**values)


def test_nothing_is_remembered_unless_asked():
    assert (LikelihoodConfig().cache, LikelihoodConfig().dynamic) == (0, 0)
