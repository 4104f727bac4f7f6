import itertools

import pytest
import torch

from clearformer.decoding.greedy import greedy, stream_greedy
from clearformer.decoding.rules import Rules
from clearformer.decoding.stream import TokenChoice, collect
from decoding.steppers import EOS, TableModel

RULES = Rules(eos=EOS)


class Counting(TableModel):
    """Keeps the number of rows of every step."""

    seen: list = None

    def __init__(self, **options):
        super().__init__(**options)
        object.__setattr__(self, "seen", [])

    def step(self, tokens, state):
        self.seen.append(len(tokens))
        return super().step(tokens, state)


def test_tokens_arrive_one_step_at_a_time():
    model = Counting(vocab=6, eos_bias=-9.0)
    choices = stream_greedy(model, [1, 2], rules=RULES, max_len=50)
    first = list(itertools.islice(choices, 2))
    assert [choice.row for choice in first] == [0, 1]
    assert model.seen == [2]  # nothing was computed ahead
    next(choices)
    assert model.seen == [2, 2]


def test_rows_leave_when_they_are_done():
    model = Counting(vocab=6, eos_bias=-9.0)
    greedy(model, range(3), rules=RULES, max_len=[1, 2, 4])
    assert model.seen == [3, 2, 1, 1]


def test_streaming_leaves_the_callers_gradient_mode_alone():
    choices = stream_greedy(TableModel(), [1], rules=RULES, max_len=5)
    next(choices)
    assert torch.is_grad_enabled()


def test_prefix_and_end_are_reported():
    choices = list(stream_greedy(TableModel(eos_bias=9.0), [7], rules=RULES, max_len=5, prefixes=[(3, 4)]))
    assert [choice.token for choice in choices] == [3, 4, EOS]


def test_collect_tells_cut_off_from_ended():
    ended, cut = collect([TokenChoice(0, 3, -0.5), TokenChoice(1, 4, -1.0), TokenChoice(0, EOS, -0.25)], RULES)
    assert (ended.tokens, ended.token_log_probs, ended.log_prob, ended.ended) == ((3,), (-0.5, -0.25), -0.75, True)
    assert (cut.tokens, cut.token_log_probs, cut.log_prob, cut.ended) == ((4,), (-1.0,), -1.0, False)


def test_nothing_in_nothing_out():
    assert greedy(TableModel(), [], rules=RULES, max_len=5) == []


def test_an_impossible_prefix_is_named():
    class Never(TableModel):
        def step(self, tokens, state):
            logits, state = super().step(tokens, state)
            logits[:, 2] = -torch.inf
            return logits, state

    with pytest.raises(ValueError, match="sentence 1 probability zero"):
        greedy(Never(), [5, 6], rules=RULES, max_len=3, prefixes=[(), (2,)])
