import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from clearformer.decoding.beam import BeamConfig, beam_search
from clearformer.decoding.greedy import greedy
from clearformer.decoding.rules import FREE, Rules
from decoding.steppers import TableModel

EOS = 0


def forbidden(rules, history, forced=FREE, vocab=6):
    """The tokens that the rules take out after this history, for one row among others."""
    log_probs = torch.zeros(3, vocab).log_softmax(-1)
    histories = torch.tensor([history] * 3, dtype=torch.int64).view(3, len(history))
    allowed = rules.forbid(log_probs.clone(), histories, torch.tensor([FREE, forced, FREE]))
    taken = allowed == -torch.inf
    assert torch.equal(allowed[~taken], log_probs[~taken])  # what is left keeps its probability
    return set(taken[1].nonzero().squeeze(1).tolist())


@pytest.mark.parametrize("forced", [None, torch.tensor([FREE, FREE])])
def test_without_rules_nothing_changes(forced):
    scores = torch.randn(2, 4)
    before = scores.clone()
    found = Rules(eos=EOS).forbid(scores, torch.empty(2, 0, dtype=torch.int64), forced)
    assert found is scores
    assert torch.equal(found, before)


def test_the_scores_are_changed_in_place():
    scores = torch.zeros(1, 4)
    Rules(eos=EOS, banned=(2,)).forbid(scores, torch.empty(1, 0, dtype=torch.int64), None)
    assert scores.tolist() == [[0.0, 0.0, -torch.inf, 0.0]]


def test_banned_minimum_and_forced():
    assert forbidden(Rules(eos=EOS, banned=(2, 4)), [1]) == {2, 4}
    assert forbidden(Rules(eos=EOS, min_len=2), [1]) == {EOS}
    assert forbidden(Rules(eos=EOS, min_len=2), [1, 1]) == set()
    assert forbidden(Rules(eos=EOS), [1], forced=3) == {0, 1, 2, 4, 5}
    assert forbidden(Rules(eos=EOS, banned=(3,), no_repeat_ngram=1), [3], forced=3) == {0, 1, 2, 4, 5}


@given(history=st.lists(st.integers(1, 3), max_size=12), n=st.integers(1, 4))
def test_no_repeat_is_what_counting_says(history, n):
    grams = [tuple(history[i : i + n]) for i in range(len(history) - n + 1)]
    context = tuple(history[len(history) - n + 1 :]) if n > 1 else ()
    expected = {token for token in range(6) if len(context) == n - 1 and (*context, token) in grams}
    assert forbidden(Rules(eos=EOS, no_repeat_ngram=n), history) == expected


def test_a_row_without_any_token_left_may_end():
    everything = tuple(range(1, 6))
    assert forbidden(Rules(eos=EOS, banned=everything, min_len=9), [1]) == set(everything)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_len": -1}, r"^min_len is -1, but a minimum length cannot be negative$"),
        ({"no_repeat_ngram": -2}, r"^no_repeat_ngram is -2; give 0"),
        ({"banned": (1, EOS)}, r"^the end token 0 is banned, so no sequence could end"),
    ],
)
def test_hostile_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        Rules(eos=EOS, **options)


@pytest.mark.parametrize("rules", [Rules(eos=7), Rules(eos=0, banned=(7,)), Rules(eos=0, banned=(-1,))], ids=repr)
def test_tokens_outside_the_vocabulary(rules):
    with pytest.raises(ValueError, match=r"is outside the vocabulary of 6 tokens$"):
        rules.check_vocabulary(6)


class Growing:
    """A form for the tests: each token is one more than the last, and a text may end from 4 on."""

    def allowed(self, history):
        after = history[-1] + 1 if history else 1
        return torch.tensor([token == after or (token == EOS and after >= 5) for token in range(6)])


def test_a_constraint_says_what_may_follow_each_row_and_a_forced_token_beats_it():
    rules = Rules(eos=EOS, constraint=Growing())
    assert forbidden(rules, []) == {0, 2, 3, 4, 5}
    assert forbidden(rules, [1, 2, 3, 4]) == {1, 2, 3, 4}
    assert forbidden(rules, [1], forced=5) == {0, 1, 2, 3, 4}


def test_a_constraint_is_not_loosened_where_the_other_rules_leave_nothing_of_it():
    """Every path can end, but not one that would then not have its form."""
    assert forbidden(Rules(eos=EOS, banned=(2,), constraint=Growing()), [1]) == {0, 1, 2, 3, 4, 5}


def test_a_beam_keeps_to_a_constraint_as_greedy_does():
    rules = Rules(eos=EOS, constraint=Growing())
    [found] = beam_search(TableModel(vocab=6), [3], rules=rules, max_len=8, config=BeamConfig(beam=3))
    [one] = greedy(TableModel(vocab=6), [3], rules=rules, max_len=8)
    assert {hypothesis.tokens[:4] for hypothesis in found} == {(1, 2, 3, 4)} == {one.tokens[:4]}
