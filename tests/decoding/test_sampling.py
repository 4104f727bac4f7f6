from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.decoding.greedy import greedy
from clearformer.decoding.logits import Temperature, TopK, TopP
from clearformer.decoding.rules import Rules
from clearformer.decoding.sampling import draw, sample, stream_sample
from decoding.steppers import EOS, TableModel

RULES = Rules(eos=EOS)
# 99.9 % quantiles of chi-square for 1, 2, ... degrees of freedom: a right sampler with a fixed seed is below.
CHI_SQUARE_999 = [10.83, 13.82, 16.27, 18.47, 20.52, 22.46, 24.32, 26.12]


def chi_square(counts, probs):
    total = sum(counts.values())
    return sum((counts[token] - total * p) ** 2 / (total * p) for token, p in probs.items() if p > 0)


def first_tokens(model, transforms=(), rules=RULES, rows=4000):
    found = sample(model, [3] * rows, rules=rules, max_len=1, seeds=range(rows), transforms=transforms)
    return Counter(h.tokens[0] if h.tokens else EOS for h in found)


def test_frequencies_match_the_model():
    model = TableModel(vocab=6)
    probs = dict(enumerate(torch.tensor(model.log_probs(3, ())).exp().tolist()))
    assert chi_square(first_tokens(model), probs) < CHI_SQUARE_999[4]


def test_frequencies_match_along_the_whole_path():
    model, rows = TableModel(vocab=3), 4000
    found = sample(model, [3] * rows, rules=RULES, max_len=2, seeds=range(rows))
    counts = Counter((h.tokens, h.ended) for h in found)
    probs = {(h.tokens, h.ended): torch.tensor(h.log_prob).exp().item() for h in found}
    assert sum(probs.values()) == pytest.approx(1.0)  # two words, two steps: all seven sequences turned up
    assert chi_square(counts, probs) < CHI_SQUARE_999[5]


def test_frequencies_match_temperature_top_k_top_p_and_bans():
    model = TableModel(vocab=6)
    log_probs = torch.tensor(model.log_probs(3, ()))
    best = log_probs.argsort(descending=True).tolist()
    hot = dict(enumerate((log_probs / 2).softmax(-1).tolist()))
    assert chi_square(first_tokens(model, [Temperature(2.0)]), hot) < CHI_SQUARE_999[4]

    three = dict(zip(best[:3], log_probs[best[:3]].softmax(-1).tolist(), strict=True))
    counts = first_tokens(model, [TopK(3)])
    assert set(counts) == set(three)
    assert chi_square(counts, three) < CHI_SQUARE_999[1]

    mass = float(log_probs[best[:2]].exp().sum())
    assert set(first_tokens(model, [TopP(mass - 0.01)])) == set(best[:2])

    worst = best[-1] if best[-1] != EOS else best[-2]
    rest = [token for token in range(6) if token not in (worst, EOS)]
    banned = first_tokens(model, rules=Rules(eos=EOS, min_len=1, banned=(worst,)))
    assert chi_square(banned, dict(zip(rest, log_probs[rest].softmax(-1).tolist(), strict=True))) < CHI_SQUARE_999[2]


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_a_sample_depends_on_its_own_seed_and_source_alone(data):
    model = TableModel(vocab=5)
    rows = data.draw(
        st.lists(st.tuples(st.integers(0, 20), st.integers(0, 99), st.integers(1, 6)), min_size=1, max_size=6)
    )
    sources, seeds, lengths = zip(*rows, strict=True)
    options = {"rules": RULES, "transforms": [Temperature(1.3), TopP(0.9)]}
    together = sample(model, sources, max_len=lengths, seeds=seeds, **options)
    for source, seed, length, found in zip(sources, seeds, lengths, together, strict=True):
        assert sample(model, [source], max_len=length, seeds=[seed], **options) == [found]


def test_a_longer_limit_continues_the_same_sample():
    model = TableModel(vocab=6, eos_bias=-3.0)
    short, long = (sample(model, [1], rules=RULES, max_len=n, seeds=[8])[0] for n in (4, 9))
    assert long.tokens[: len(short.tokens)] == short.tokens


def test_seeds_repeat_and_differ():
    model = TableModel(vocab=6, eos_bias=-3.0)
    first, second, other = sample(model, [1, 1, 1], rules=RULES, max_len=12, seeds=[5, 5, 6])
    assert first == second
    assert first.tokens != other.tokens


def test_the_reported_probability_is_the_models_own():
    model = TableModel(vocab=6)
    for found in sample(model, [4] * 20, rules=RULES, max_len=4, seeds=range(20), transforms=[Temperature(3.0)]):
        said = [*found.tokens, EOS][: len(found.token_log_probs)]
        expected = [model.log_probs(4, found.tokens[:i])[token] for i, token in enumerate(said)]
        assert found.token_log_probs == pytest.approx(expected)


@pytest.mark.parametrize("transforms", [[Temperature(0.001)], [TopK(1)], [TopP(1e-9)]], ids=repr)
def test_the_sharpest_sampling_is_greedy(transforms):
    model = TableModel(vocab=6)
    sharp = sample(model, range(20), rules=RULES, max_len=6, seeds=range(20), transforms=transforms)
    assert [h.tokens for h in sharp] == [h.tokens for h in greedy(model, range(20), rules=RULES, max_len=6)]


def test_draw_by_hand():
    log_probs = torch.tensor([0.0, 0.25, 0.0, 0.75, 0.0]).log().expand(5, -1)
    uniform = torch.tensor([0.0, 0.2499, 0.2501, 0.9, 1 - 2**-53], dtype=torch.float64)
    assert draw(log_probs, uniform).tolist() == [1, 1, 3, 3, 3]  # impossible tokens are never drawn, even at the edges


def test_streaming_gives_the_same_tokens():
    model = TableModel(vocab=6)
    options = {"rules": RULES, "max_len": 6, "seeds": [3, 4]}
    choices = list(stream_sample(model, [1, 2], **options))
    for row, found in enumerate(sample(model, [1, 2], **options)):
        assert tuple(choice.log_prob for choice in choices if choice.row == row) == found.token_log_probs


def test_hostile_seeds():
    with pytest.raises(ValueError, match="seeds must not be negative"):
        sample(TableModel(), [1], rules=RULES, max_len=3, seeds=[-1])
    with pytest.raises(ValueError, match="give one per row"):
        sample(TableModel(), [1, 2], rules=RULES, max_len=3, seeds=[1])
