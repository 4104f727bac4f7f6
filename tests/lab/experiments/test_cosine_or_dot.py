"""Weights of a real model, and those that cosines would give."""


def test_half_of_the_weight_would_move(found):
    values, findings = found("cosine-or-dot")
    assert min(values["apart"]) > 0.1
    assert min(values["lengths"]) > 1.2
    assert values["after"] > values["before"]
    assert findings.verdict == "does not hold"
