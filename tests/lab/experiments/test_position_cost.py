"""What each scheme adds."""

from clearformer.lab.experiments.position_cost import LENGTH, NONE


def test_parameters_and_products_are_counted(found):
    values, findings = found("position-cost")
    parameters = {kind: values[f"{kind}_parameters"] - values[f"{NONE}_parameters"] for kind in ("rotary", "learned")}
    assert parameters == {"rotary": 0, "learned": LENGTH * 64}
    products = {kind: values[f"{kind}_operations"] for kind in (NONE, "sinusoidal", "alibi", "relative")}
    assert products[NONE] == products["sinusoidal"] == products["alibi"] < products["relative"]
    assert values[f"{NONE}_time"] == 1
    assert len(findings.tables[0].rows) == 8
