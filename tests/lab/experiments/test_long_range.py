"""What is kept over a distance."""

from clearformer.lab.experiments.long_range import CASES, EXPERIMENT


def test_the_transformer_reaches_any_distance_and_the_others_do_not(found):
    _, findings = found("long-range")
    assert findings.verdict in ("holds", "holds with a condition")
    assert [check.state for check in findings.claims] == ["met", "met"]


def test_every_network_is_a_case_of_its_own():
    trials = EXPERIMENT.trials("full")
    assert [trial.case for trial in trials if trial.seed == 0] == list(CASES)
    assert len(trials) == 3 * len(CASES)
