"""Measurements as lines: the number, the bound of a claim, both languages, and the same after being kept."""

import json

from clearformer.lab.noted import note_findings, noted_data, noted_from


def test_a_claim_stands_with_its_bound_and_a_row_with_its_columns(found):
    _, findings = found("padding-mask")
    noted = note_findings(findings)
    claim = noted.lines["in a decoder with the causal mask alone, padding changes nothing"]
    assert claim.en.endswith("(for the claim to hold: ≤ 0.0001)")
    assert "说法若成立，应为 ≤ 0.0001" in claim.zh
    assert noted.lines["keys set to zero"].en.startswith("keys set to zero: weight on padding 0.3")
    assert noted.verdict == "does not hold"


def test_a_limit_stands_without_a_bound_that_nobody_claims(found):
    _, findings = found("order-blindness")
    assert "to hold" not in note_findings(findings).lines["without positions: change place by place"].en


def test_what_is_kept_comes_back(found):
    noted = note_findings(found("softmax-axis")[1])
    assert noted_from(json.loads(json.dumps(noted_data(noted)))) == noted
