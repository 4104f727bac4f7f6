"""What attention knows of order."""

from clearformer.lab.experiments.order_blindness import KINDS


def test_without_positions_outputs_move_along(found):
    values, findings = found("order-blindness")
    assert values["none_moved"] < 1e-4
    assert values["none_placed"] > 0.1
    assert findings.verdict == "holds with a condition"


def test_every_scheme_ends_that(found):
    values, _ = found("order-blindness")
    assert min(values[f"{kind}_moved"] for kind in KINDS if kind != "none") > 0.05
