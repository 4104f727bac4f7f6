"""Who pays for long texts."""

from clearformer.lab.experiments.feed_forward_share import DIM, LENGTHS


def test_attention_equals_the_rest_at_six_times_the_width(found):
    values, findings = found("feed-forward-share")
    at = LENGTHS.index(6 * DIM)
    assert values["attention"][at] == values["projections"][at] + values["feed_forward"][at]
    assert findings.verdict == "does not hold"


def test_the_counts_are_the_formulas(found):
    values, _ = found("feed-forward-share")
    for place, length in enumerate(LENGTHS):
        assert values["projections"][place] == 8 * length * DIM**2
        assert values["attention"][place] == 4 * length**2 * DIM
        assert values["feed_forward"][place] == 16 * length * DIM**2
