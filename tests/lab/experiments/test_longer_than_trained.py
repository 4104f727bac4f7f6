"""Reading more than was trained on."""

from clearformer.lab.experiments.longer_than_trained import KINDS


def test_every_scheme_is_read_at_every_length(found, had_it_been):
    values, findings = found("longer-than-trained")
    assert len(values["by_length"]) == 3
    assert len(findings.tables[0].rows) == len(KINDS)
    steady = {kind: {"at_1": 4.0, "at_2": 4.0, "at_4": 4.0} for kind in KINDS}
    assert had_it_been("longer-than-trained", steady) != "does not hold"
    rising = {**steady, "sinusoidal": {"at_1": 4.0, "at_4": 6.0}}
    assert had_it_been("longer-than-trained", rising) == "does not hold"
