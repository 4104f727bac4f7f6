"""What the division by the root of the width does."""

from clearformer.lab.experiments.root_of_width import WIDTHS


def test_variance_is_the_width_and_then_one(found):
    values, findings = found("root-of-width")
    for width, before, after in zip(WIDTHS, values["before"], values["after"], strict=True):
        assert 0.9 * width < before < 1.1 * width
        assert 0.9 < after < 1.1
    assert findings.verdict == "holds"


def test_an_unscaled_softmax_passes_little_on(found):
    values, _ = found("root-of-width")
    assert values["kept"] < 0.5
    assert max(values["gradient_scaled"][3:]) < 1.1 * min(values["gradient_scaled"][3:])
