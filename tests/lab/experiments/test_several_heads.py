"""Heads at equal cost."""


def test_every_number_of_heads_has_as_many_parameters(found):
    values, findings = found("several-heads")
    assert values["parameters"] > 100_000
    assert findings.claims[0].state == "met"
    assert findings.verdict == "cannot be settled at this scale"  # one seed


def test_every_head_was_taken_away_and_looked_at(found, had_it_been):
    _, findings = found("several-heads")
    assert len(findings.tables[1].rows) == 8  # two layers of four
    worse = {"1": {"loss": 3.5}, "4": {"loss": 3.0}, "2": {"loss": 3.2}, "8": {"loss": 3.0}}
    assert had_it_been("several-heads", worse) == "holds with a condition"
    better = {**worse, "1": {"loss": 2.5}}
    assert had_it_been("several-heads", better) == "does not hold"
