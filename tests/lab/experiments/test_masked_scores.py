"""What hides the future."""


def test_zero_hides_nothing_and_minus_infinity_everything(found):
    values, findings = found("masked-scores")
    assert values["scores"] > 0.3
    assert values["embeddings"] > 0.3
    assert values["infinite"] == 0
    assert findings.verdict == "does not hold"
