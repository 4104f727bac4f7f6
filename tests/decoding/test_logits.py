import pytest
import torch

from clearformer.decoding.logits import MinP, RepetitionPenalty, Temperature, TopK, TopP

LOG_PROBS = torch.tensor([[0.5, 0.3, 0.15, 0.05], [0.25, 0.25, 0.25, 0.25]]).log()
NOTHING = torch.empty(2, 0, dtype=torch.int64)


def kept(log_probs):
    return [row.nonzero().squeeze(1).tolist() for row in (log_probs > -torch.inf)]


def test_temperature():
    halved = Temperature(2.0)(LOG_PROBS, NOTHING).softmax(-1)
    expected = LOG_PROBS.exp().sqrt()
    assert torch.allclose(halved, expected / expected.sum(-1, keepdim=True))


def test_top_k_keeps_exactly_k_and_of_equals_the_lowest():
    assert kept(TopK(2)(LOG_PROBS, NOTHING)) == [[0, 1], [0, 1]]
    assert kept(TopK(9)(LOG_PROBS, NOTHING)) == [[0, 1, 2, 3]] * 2


def test_top_p_keeps_the_fewest_that_reach_p():
    assert kept(TopP(0.4)(LOG_PROBS, NOTHING)) == [[0], [0, 1]]
    assert kept(TopP(0.6)(LOG_PROBS, NOTHING)) == [[0, 1], [0, 1, 2]]
    assert kept(TopP(1.0)(LOG_PROBS, NOTHING)) == [[0, 1, 2, 3]] * 2
    assert kept(TopP(1e-12)(LOG_PROBS, NOTHING)) == [[0], [0]]


def test_top_p_works_on_what_the_rules_left():
    allowed = LOG_PROBS.clone()
    allowed[:, 0] = -torch.inf  # what is left counts as the whole: 0.6, 0.3, 0.1
    assert kept(TopP(0.55)(allowed, NOTHING))[0] == [1]
    assert kept(TopP(0.65)(allowed, NOTHING))[0] == [1, 2]


def test_min_p_keeps_what_is_probable_beside_the_likeliest():
    """Of 0.5, 0.3, 0.15, 0.05: at least a fifth of the likeliest is 0.1. Among equals all stay."""
    assert kept(MinP(0.2)(LOG_PROBS, NOTHING)) == [[0, 1, 2], [0, 1, 2, 3]]
    assert kept(MinP(1.0)(LOG_PROBS, NOTHING)) == [[0], [0, 1, 2, 3]]
    allowed = LOG_PROBS.clone()
    allowed[:, 0] = -torch.inf  # the likeliest of what the rules left is the measure
    assert kept(MinP(0.5)(allowed, NOTHING))[0] == [1, 2]


def test_repetition_penalty_touches_what_was_said_and_nothing_else():
    history = torch.tensor([[1, 1, 3], [0, 0, 0]])
    changed = RepetitionPenalty(2.0)(LOG_PROBS, history) / LOG_PROBS
    assert torch.allclose(changed, torch.tensor([[1.0, 2.0, 1.0, 2.0], [2.0, 1.0, 1.0, 1.0]]))


def test_repetition_penalty_cannot_raise_what_is_forbidden():
    allowed = LOG_PROBS.clone()
    allowed[0, 1] = -torch.inf
    assert RepetitionPenalty(0.5)(allowed, torch.tensor([[1], [1]]))[0, 1] == -torch.inf


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Temperature(0.0), r"^temperature is 0\.0; it must be above 0"),
        (lambda: Temperature(-1.0), r"^temperature is -1\.0; it must be above 0"),
        (lambda: Temperature(float("nan")), r"^temperature is nan; it must be above 0"),
        (lambda: TopK(0), r"^top_k is 0; it must be at least 1$"),
        (lambda: TopP(0.0), r"^top_p is 0\.0; it must be above 0 and at most 1$"),
        (lambda: MinP(0.0), r"^min_p is 0\.0; it must be above 0 and at most 1$"),
        (lambda: TopP(1.1), r"^top_p is 1\.1; it must be above 0 and at most 1$"),
        (lambda: RepetitionPenalty(0.0), r"^repetition_penalty is 0\.0; it must be above 0"),
    ],
)
def test_hostile_arguments(make, message):
    with pytest.raises(ValueError, match=message):
        make()
