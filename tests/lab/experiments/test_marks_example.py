"""Four readings of one example."""

import pytest


def test_the_written_numbers_are_plain_products(found):
    values, findings = found("marks-example")
    assert values["plain"] == pytest.approx([0.48, 0.18, 0.34], abs=0.005)
    assert values["plain_guess"] == pytest.approx(0.43, abs=0.005)
    assert values["scaled"] == pytest.approx([0.4062, 0.2487, 0.3452], abs=1e-4)
    assert values["scaled_guess"] == pytest.approx(0.4005, abs=1e-4)
    assert values["cosine"] == pytest.approx([0.470, 0.130, 0.400], abs=1e-3)
    assert findings.verdict == "does not hold"
