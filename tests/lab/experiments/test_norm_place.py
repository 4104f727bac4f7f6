"""Gradients of fresh models."""


def test_pre_norm_s_last_layer_is_calmer_in_deep_models(found):
    values, findings = found("norm-place")
    assert values["pre_last"][-1] < 0.6 * values["pre_last"][0]
    assert values["post_last"][-1] > 0.8 * values["post_last"][0]
    assert findings.verdict == "holds"
