"""What the sum is for."""


def test_with_neither_sum_nor_norm_the_gradient_is_gone(found):
    values, findings = found("residual-gradients")
    assert values["bare_kept"][-1] < 0.01 * values["post_kept"][-1]
    assert min(values["post_kept"][-1], values["pre_kept"][-1]) > 0.1
    assert findings.verdict == "holds with a condition"


def test_norms_alone_keep_its_size_and_lose_what_tokens_say(found):
    values, _ = found("residual-gradients")
    assert values["without_kept"][-1] > 0.1
    assert values["without_alike"][0] > 0.9
    assert max(values["post_alike"][0], values["pre_alike"][0]) < 0.6
