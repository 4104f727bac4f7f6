"""Depth, norms, warm-up."""

from clearformer.lab.experiments.trained_depth import DEEP, RATES, VARIANTS


def test_what_is_claimed_is_the_deep_network_without_a_warm_up(had_it_been):
    alike = {one.name: {"loss": 3.0} for one in VARIANTS}
    failing = {f"post-cold-{DEEP}-{rate}": {"loss": 5.0} for rate in RATES}
    assert had_it_been("trained-depth", alike | failing).startswith(("holds", "cannot"))
    assert had_it_been("trained-depth", alike | {name: {"loss": 2.0} for name in failing}) == "does not hold"


def test_cases_are_told_apart():
    assert len({one.name for one in VARIANTS}) == len(VARIANTS) == 5
