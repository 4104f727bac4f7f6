"""Beams, penalties, and the mean of checkpoints."""


def test_each_is_judged_by_itself(found, had_it_been):
    values, findings = found("search-settings")
    assert len(values["beams"]) == 4
    assert len(findings.tables[0].rows) == 4 + 3 + 1
    numbers = {"last": {"gain": 1.0, "more": 0.0, "bleu": 10.0}, "averaged": {"bleu": 10.5}}
    assert had_it_been("search-settings", numbers).startswith("holds")
    assert had_it_been("search-settings", {**numbers, "averaged": {"bleu": 9.0}}) == "does not hold"
