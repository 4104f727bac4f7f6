"""What is lost without the softmax."""


def test_it_is_no_average(found):
    values, findings = found("missing-softmax")
    assert values["apart"] > 10
    assert values["outside"] > 0.5
    assert values["growth"] > 3
    assert values["proper"] == sorted(values["proper"], reverse=True)
    assert findings.verdict == "does not hold"
