"""Heads cost nothing."""

from clearformer.lab.experiments.head_width import COUNTS


def test_divided_heads_cost_the_same_and_whole_ones_do_not(found):
    values, findings = found("head-width")
    assert len(set(values["parameters"])) == len(set(values["operations"])) == 1
    grown = [one / values["operations_full"][0] for one in values["operations_full"]]
    assert grown == list(COUNTS)
    assert findings.verdict == "holds"
