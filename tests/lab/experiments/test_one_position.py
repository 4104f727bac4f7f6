"""What the feed-forward part sees."""

from clearformer.lab.experiments.one_position import PLACE


def test_it_sees_one_position(found):
    values, findings = found("one-position")
    changed = [place for place, change in enumerate(values["ffn"]) if change]
    assert changed == [PLACE]
    assert findings.verdict == "does not hold"


def test_a_convolution_and_attention_reach_further(found):
    values, _ = found("one-position")
    changed = [place for place, change in enumerate(values["convolution"]) if change > 1e-6]
    assert changed == [PLACE - 1, PLACE, PLACE + 1]
    assert min(values["attention"]) > 1e-6
