"""A sentence on its way through the encoder that ships."""


def test_every_step_keeps_the_shape(found):
    values, findings = found("encoder-walk")
    shapes = {tuple(shape) for _, shape, _ in values["steps"]}
    assert len(shapes) == 1
    assert shapes.pop() == (1, len(values["pieces"]), 256)
    assert values["vectors"] == 1
    assert findings.verdict == "holds with a condition"


def test_the_gain_changes_what_the_norm_made(found):
    values, _ = found("encoder-walk")
    assert values["variance_before"] < 1e-3
    assert values["shift"] > 0.1
