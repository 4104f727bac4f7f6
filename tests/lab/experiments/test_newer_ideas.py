"""Ideas one by one against the usual network."""

from clearformer.lab.experiments.newer_ideas import VARIANTS


def test_an_idea_that_is_worse_does_not_hold(found, had_it_been):
    parameters = {
        row[0]: float(row[1].replace(",", "")) for row in found("newer-ideas")[1].tables[0].rows if row[0] == "Muon"
    }
    assert parameters["Muon"] > 100_000
    better = {one.name: {"loss": 4.0 if one.name == "usual" else 3.5} for one in VARIANTS}
    assert had_it_been("newer-ideas", better) == "holds"
    assert had_it_been("newer-ideas", {**better, "gated": {"loss": 4.5}}) == "does not hold"


def test_a_gate_is_paid_for_by_the_feed_forward_part(found):
    rows = [float(row[1].replace(",", "")) for row in found("newer-ideas")[1].tables[0].rows]
    usual, _, _, values, gated, _ = rows
    assert abs(gated - usual) < 200
    assert values > usual  # a table costs parameters, not products
