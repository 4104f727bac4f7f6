"""The order of the last two steps."""


def test_the_other_way_round_gives_no_probabilities(found):
    values, findings = found("softmax-last")
    assert values["right"] < 1e-4
    assert values["off"] > 0.1
    assert values["negative"] > 0
    assert values["same"] < 1
    assert findings.verdict == "does not hold"
