"""A translator that was not told that training is over."""

from clearformer.lab.experiments.forgotten_dropout import SITES


def test_it_answers_differently_each_time_and_worse(found):
    values, findings = found("forgotten-dropout")
    assert values["apart"] > 0.01
    assert values["lost"] > 0.01
    assert findings.verdict == "does not hold"


def test_every_site_disturbs(found):
    values, _ = found("forgotten-dropout")
    assert min(values[f"site_{site}"] for site in SITES) > 0.01
