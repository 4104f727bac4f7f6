"""Perturbations that find leaks."""

import pytest


def test_nothing_leaks_from_this_decoder(found):
    values, findings = found("future-leaks")
    assert values["sound_past"] == 0
    assert values["unshifted"] > 1e-3
    assert findings.verdict == "holds with a condition"


@pytest.mark.parametrize("leaky", ["late", "mean", "open"])
def test_a_leaky_model_is_caught(found, leaky):
    values, _ = found("future-leaks")
    assert values[f"{leaky}_past"] > 1e-3
