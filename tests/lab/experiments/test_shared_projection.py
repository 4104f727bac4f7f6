"""Two projections, or one for both."""

import pytest


def test_queries_and_keys_cannot_be_exchanged(found):
    values, findings = found("shared-projection")
    assert values["exchanged"] > 1
    assert findings.verdict == "does not hold"


def test_one_projection_looks_at_itself_and_is_symmetric(found):
    values, _ = found("shared-projection")
    assert values["self_shared"] == pytest.approx(0.92, abs=0.03)
    assert values["self_separate"] == pytest.approx(1 / 6, abs=0.02)
    assert values["asymmetry_shared"] < 1e-4  # the order of summing may differ
    assert values["asymmetry_separate"] > 1
