"""A memory beside a model: probabilities that sum to one, the paper's formula, and nothing of the future."""

import math

import pytest
import torch
import torch.nn.functional as F

from clearformer.inference.continuous_cache import ContinuousCache

V, D = 5, 8


def stretch(length, seed=0):
    """States, the tokens that followed them, and what some model thinks of every token after each."""
    draw = torch.Generator().manual_seed(seed)
    states = torch.randn(length, D, generator=draw)
    following = torch.randint(V, (length,), generator=draw)
    return states, following, torch.randn(length, V, generator=draw).log_softmax(1)


def mixed(states, following, model, *, parts, **settings):
    cache = ContinuousCache(settings.pop("size", 100), **{"theta": 2.0, "share": 0.3} | settings)
    log_probs = model.gather(1, following[:, None])[:, 0]
    rows = zip(*(part.split(parts) for part in (log_probs, states, following)), strict=True)
    return torch.cat([cache.mix(*row) for row in rows])


@pytest.mark.parametrize("size", [3, 100])
def test_it_is_the_formula_of_the_paper(size):
    states, following, model = stretch(9)
    found = mixed(states, following, model, parts=4, size=size)
    unit = F.normalize(states, dim=1)
    for here in range(9):
        past = range(max(0, here - size), here)
        alone = math.exp(model[here, following[here]])
        if not past:
            assert found[here].exp() == pytest.approx(alone)
            continue
        weights = {there: math.exp(2.0 * float(unit[here] @ unit[there])) for there in past}
        pointing = sum(weight for there, weight in weights.items() if following[there] == following[here])
        assert found[here].exp() == pytest.approx(0.7 * alone + 0.3 * pointing / sum(weights.values()), rel=1e-5)


@pytest.mark.parametrize("size", [2, 100])
def test_the_probabilities_of_all_tokens_sum_to_one(size):
    """Whatever the past: the last token is replaced by each of the vocabulary in turn."""
    states, following, model = stretch(7)
    total = 0.0
    for token in range(V):
        last = torch.cat((following[:-1], torch.tensor([token])))
        total += float(mixed(states, last, model, parts=3, size=size)[-1].exp())
    assert total == pytest.approx(1, abs=1e-5)


def test_a_later_token_changes_no_earlier_score():
    states, following, model = stretch(12)
    before = mixed(states, following, model, parts=5)
    changed, others = following.clone(), states.clone()
    changed[6:], others[7:] = (following[6:] + 1) % V, -states[7:]
    after = mixed(others, changed, model, parts=5)
    assert torch.equal(before[:6], after[:6])
    assert not torch.equal(before[6:], after[6:])


def test_no_share_is_the_model_alone_to_the_last_bit():
    states, following, model = stretch(10)
    alone = model.gather(1, following[:, None])[:, 0]
    assert torch.equal(mixed(states, following, model, parts=3, share=0.0), alone)


def test_how_the_text_is_cut_into_stretches_changes_nothing():
    states, following, model = stretch(12)
    one, other = (mixed(states, following, model, parts=parts, size=4) for parts in (12, 1))
    torch.testing.assert_close(one, other)


def test_what_was_just_seen_becomes_likely():
    """The same state again: the cache has seen what followed it."""
    states, following, model = stretch(1)
    twice = mixed(states.repeat(2, 1), following.repeat(2), model.repeat(2, 1), parts=1, theta=50.0)
    assert twice[1].exp() >= 0.3
    assert twice[1] > twice[0]
