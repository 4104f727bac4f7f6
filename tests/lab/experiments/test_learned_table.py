"""What the shipped translator's table holds."""


def test_translations_lie_together(found):
    values, findings = found("learned-table")
    assert sum(values["right"]) > sum(values["crossed"])
    assert values["active"] < 0.5
    assert findings.verdict == "holds with a condition"
    assert len(values["units"]) == 8
