"""Guessing where a text repeats itself: fewer steps, the same tokens, whatever the rules."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.decoding.greedy import stream_greedy
from clearformer.decoding.logits import RepetitionPenalty
from clearformer.decoding.lookup import MATCH, find_continuation, stream_lookup
from clearformer.decoding.rules import Rules

VOCAB, EOS = 7, 0


class Grammar:
    """A model whose next token depends on the last two by a fixed table; it repeats itself a lot, as tables do."""

    def __init__(self, seed):
        self.table = torch.randn(VOCAB, VOCAB, VOCAB, generator=torch.Generator().manual_seed(seed))
        self.table[..., EOS] -= 3.0
        self.steps = 0

    def start(self, source):
        [prompt] = source
        return torch.tensor([prompt[-1]]), list(prompt[:-1])

    def step(self, tokens, state):
        return self.check(tokens.tolist(), state), state

    def check(self, tokens, state):
        self.steps += 1
        said = []
        for token in tokens:
            state.append(token)
            said.append(self.table[([0] * 2 + state)[-2], state[-1]])
        return torch.stack(said)

    def forget(self, count, state):
        del state[len(state) - count :]


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 1000),
    prompt=st.lists(st.integers(1, VOCAB - 1), min_size=1, max_size=30),
    most=st.integers(1, 9),
    length=st.integers(1, 40),
    penalty=st.sampled_from([None, 1.3]),
    rules=st.sampled_from([Rules(eos=EOS), Rules(eos=EOS, min_len=5, banned=(2,), no_repeat_ngram=4)]),
)
def test_the_text_is_that_of_greedy_decoding(seed, prompt, most, length, penalty, rules):
    parts = [] if penalty is None else [RepetitionPenalty(penalty)]
    length = max(length, rules.min_len)
    plain = list(stream_greedy(Grammar(seed), [prompt], rules=rules, max_len=length, transforms=parts))
    model = Grammar(seed)
    guessed = list(stream_lookup(model, [prompt], rules=rules, max_len=length, most=most, transforms=parts))
    assert [one.token for one in guessed] == [one.token for one in plain]
    assert all(math.isclose(a.log_prob, b.log_prob, abs_tol=1e-6) for a, b in zip(guessed, plain, strict=True))
    assert model.steps <= len(guessed)


def test_a_text_that_repeats_itself_takes_a_fraction_of_the_steps():
    model = Grammar(0)
    model.table[:] = -5.0
    for token in range(1, VOCAB):  # 1 2 3 4 5 6 1 2 …
        model.table[:, token, token % (VOCAB - 1) + 1] = 5.0
    found = list(stream_lookup(model, [[1]], rules=Rules(eos=EOS), max_len=60, most=8))
    assert [one.token for one in found[:8]] == [2, 3, 4, 5, 6, 1, 2, 3]
    assert model.steps < 20


def test_what_followed_last_time_is_the_guess():
    assert find_continuation([1, 2, 3, 4, 9, 1, 2, 3, 5, 6, 1, 2, 3], most=2) == [5, 6]  # the latest time
    assert find_continuation([1, 2, 3, 1, 2, 3], most=8) == [1, 2, 3]
    assert find_continuation([1, 2, 3, 4, 5], most=8) == []
    assert find_continuation([1] * MATCH, most=8) == []
    assert find_continuation([1] * (MATCH + 2), most=0) == []


def test_the_rules_are_checked_against_the_vocabulary():
    with pytest.raises(ValueError, match="outside the vocabulary"):
        list(stream_lookup(Grammar(1), [[1]], rules=Rules(eos=VOCAB), max_len=3, most=2))
