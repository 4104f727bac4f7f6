"""What hides padding, and what does not."""

import pytest


def test_only_the_padding_mask_hides_padding(found):
    values, findings = found("padding-mask")
    assert values["encoder_masked"] < 1e-5
    assert values["decoder_masked"] < 1e-5
    assert values["decoder_bare"] > 0.1
    assert values["encoder_bare"] > 0.1
    assert findings.verdict == "does not hold"


def test_it_is_the_score_that_is_set(found):
    values, _ = found("padding-mask")
    assert values["masked_weight"] == 0
    assert values["masked_sum"] == pytest.approx(1)
    assert values["keys_weight"] > 0.1
    assert values["weights_sum"] < 0.9
