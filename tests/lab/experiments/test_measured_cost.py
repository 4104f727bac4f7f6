"""Exponents, counted."""

import pytest


def test_the_paper_s_exponents(found):
    values, findings = found("measured-cost")
    assert values["attention_length"][-1] == values["attention_length"][0] * 64**2
    assert values["attention_width"][-1] == values["attention_width"][0] * 8
    for kind in ("recurrent", "convolution"):
        assert values[f"{kind}_length"][-1] == pytest.approx(values[f"{kind}_length"][0] * 64, rel=0.05)
        assert values[f"{kind}_width"][-1] == values[f"{kind}_width"][0] * 64
    assert findings.verdict == "holds with a condition"
