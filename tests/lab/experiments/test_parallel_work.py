"""At once and step by step."""


def test_the_same_numbers_sooner(found):
    values, findings = found("parallel-work")
    assert values["same"] < 1e-4
    assert values["reading"] > 2
    assert values["writing"] > 1.5
    assert findings.verdict == "holds with a condition"


def test_writing_takes_as_many_steps_as_tokens_whatever_the_network(found):
    values, findings = found("parallel-work")
    for name in ("transformer", "lstm", "convolution"):
        assert values[f"{name}_writing"][-1] > values[f"{name}_writing"][0]
    assert len(findings.figures[0].lines) == 6  # training and writing, three networks
