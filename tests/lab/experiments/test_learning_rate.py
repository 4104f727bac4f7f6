"""The paper's schedule."""

import pytest


def test_the_peak_is_the_paper_s(found):
    values, findings = found("learning-rate")
    assert values["peak"] == pytest.approx(6.987712e-4, rel=1e-6)
    assert values["peak_step"] == 4000
    assert findings.verdict == "holds"
