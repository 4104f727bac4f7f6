"""Two scorers."""

import pytest


def test_addition_is_slower_and_needs_no_scale(found):
    values, findings = found("dot-or-additive")
    assert values["ratio"] > 1.2
    assert values["growth_dot"] == pytest.approx(32**0.5, rel=0.2)
    assert values["growth_scaled"] == pytest.approx(1, rel=0.2)
    assert values["growth_additive"] == pytest.approx(1, rel=0.3)
    assert findings.verdict == "holds with a condition"
