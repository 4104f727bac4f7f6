"""Both halves of the paper's sentence."""


def test_both_have_to_be_so(had_it_been):
    def verdict(loss, bleu):
        smoothed = {"loss": 3.0 + loss, "bleu": 10.0 + bleu}
        return had_it_been("label-smoothing", {"0.0": {"loss": 3.0, "bleu": 10.0}, "0.1": smoothed})

    assert verdict(0.2, 1.0) == "holds"
    assert verdict(0.2, -1.0) == "does not hold"
    assert verdict(-0.2, 1.0) == "does not hold"
    assert verdict(0.2, 0.0) == "cannot be settled at this scale"


def test_one_seed_settles_nothing(found):
    assert found("label-smoothing")[1].verdict == "cannot be settled at this scale"
