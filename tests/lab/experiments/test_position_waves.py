"""Waves of equal distance."""


def test_products_know_the_distance_alone_and_scores_do_not(found):
    values, findings = found("position-waves")
    assert values["products"] < 1e-4
    assert values["matrix"] < 1e-5
    assert values["vectors"] > 0.1
    assert values["scores"] > 0.5
    assert findings.verdict == "holds with a condition"
