"""What the others in a batch do to a sentence."""


def test_batch_norm_learns_and_knows_its_neighbours(found):
    values, findings = found("batch-mates")
    assert values["batch_share"] < 0.9
    assert values["batch_neighbours"] > 0.01
    assert values["layer_neighbours"] == 0
    assert values["batch_modes"] > 0.01 > values["layer_modes"]
    assert findings.verdict == "does not hold"
