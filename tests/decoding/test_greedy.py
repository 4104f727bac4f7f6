import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.decoding.greedy import greedy, stream_greedy
from clearformer.decoding.logits import RepetitionPenalty
from clearformer.decoding.rules import Rules
from decoding.steppers import EOS, TableModel

RULES = Rules(eos=EOS)


@pytest.mark.parametrize("grid", [0.0, 1.0], ids=["distinct", "many ties"])
def test_every_token_is_the_first_likeliest(grid):
    model = TableModel(vocab=6, grid=grid, eos_bias=-0.5)
    for source, found in enumerate(greedy(model, range(30), rules=RULES, max_len=8)):
        said = [*found.tokens, EOS][: len(found.token_log_probs)]
        for position, token in enumerate(said):
            log_probs = model.log_probs(source, found.tokens[:position])
            assert token == log_probs.index(max(log_probs))
            assert found.token_log_probs[position] == pytest.approx(log_probs[token])
        assert found.ended or len(found.tokens) == 8
        assert found.score == found.log_prob == pytest.approx(sum(found.token_log_probs))


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_company_changes_nothing(data):
    model = TableModel(vocab=5, grid=0.5)
    rules = Rules(eos=EOS, min_len=1, no_repeat_ngram=2, banned=(2,))
    sources = data.draw(st.lists(st.integers(0, 50), min_size=1, max_size=6))
    lengths = data.draw(st.lists(st.integers(1, 7), min_size=len(sources), max_size=len(sources)))
    together = greedy(model, sources, rules=rules, max_len=lengths)
    for source, length, found in zip(sources, lengths, together, strict=True):
        assert greedy(model, [source], rules=rules, max_len=length) == [found]


def test_a_repetition_penalty_changes_the_choice_but_not_the_reported_probability():
    model = TableModel(vocab=5, eos_bias=-5.0)
    plain = greedy(model, range(20), rules=RULES, max_len=10)
    spread = greedy(model, range(20), rules=RULES, max_len=10, transforms=[RepetitionPenalty(3.0)])
    assert sum(len(set(h.tokens)) for h in spread) > sum(len(set(h.tokens)) for h in plain)
    for source, found in enumerate(spread):
        assert found.token_log_probs[-1] == pytest.approx(model.log_probs(source, found.tokens[:-1])[found.tokens[-1]])


def test_streaming_gives_the_same_tokens_while_they_are_chosen():
    model = TableModel(vocab=6)
    finished = greedy(model, range(5), rules=RULES, max_len=6)
    choices = list(stream_greedy(model, range(5), rules=RULES, max_len=6))
    for row, found in enumerate(finished):
        mine = [choice for choice in choices if choice.row == row]
        assert [choice.token for choice in mine] == [*found.tokens, EOS][: len(found.token_log_probs)]
        assert tuple(choice.log_prob for choice in mine) == found.token_log_probs
