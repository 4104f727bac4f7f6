"""Embeddings times the root of the width."""

import pytest


def test_the_factor_makes_them_larger(found):
    values, findings = found("scaled-embeddings")
    assert values["plain"] == pytest.approx(0.0442, rel=0.02)
    assert values["scaled"] == pytest.approx(1, rel=0.02)
    assert values["waves"] == pytest.approx(0.7071, abs=1e-3)
    assert values["product_growth"] == pytest.approx(512, rel=1e-3)
    assert findings.verdict == "does not hold"


def test_without_it_the_position_drowns_the_word(found):
    values, _ = found("scaled-embeddings")
    assert values["share_plain"] < 0.01 < 0.5 < values["share_scaled"]
