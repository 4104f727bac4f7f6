"""Rows or columns."""


def test_rows_sum_to_one_in_the_usual_layout(found):
    values, findings = found("softmax-axis")
    assert values["rows"] < 1e-5
    assert values["turned"] < 1e-5
    assert values["columns"] > 0.1
    assert findings.verdict == "holds with a condition"
