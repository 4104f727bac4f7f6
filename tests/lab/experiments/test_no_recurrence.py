"""How far a token reaches."""


def test_nothing_is_recurrent(found):
    values, findings = found("no-recurrence")
    assert values["recurrent"] == 0
    assert findings.verdict == "does not hold"


def test_attention_reaches_and_an_lstm_fades(found):
    values, _ = found("no-recurrence")
    assert values["faded"] < 1e-6
    assert 0.3 < values["kept"] < 3
