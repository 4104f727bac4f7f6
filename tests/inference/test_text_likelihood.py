"""Every token scored once; a memory of the text so far is a distribution, sees no future and leaves the model alone."""

import math

import pytest
import torch

from clearformer.inference.causal_network import CausalNetwork
from clearformer.inference.likelihood_settings import LikelihoodConfig
from clearformer.inference.text_likelihood import Way, measure, segments, way_of_reading, windows
from clearformer.model.build import build
from clearformer.model.config import AttentionConfig
from clearformer.model.families import llama

V = 7
KINDS = ["", "cache", "dynamic", "dynamic_cache"]
REMEMBERING = LikelihoodConfig(cache=6, cache_theta=3.0, cache_share=0.4, dynamic=0.003, dynamic_decay=0.01)
IDS = [1, 2, 3, 1, 2, 3, 4, 5, 1, 2, 6, 6, 1, 2, 3, 0, 4]


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    made = build(llama(dim=16, hidden_dim=32, layers=1, vocab_size=V, max_len=8, attention=AttentionConfig(heads=2)))
    return made.eval()


def nats(model, ids, config=REMEMBERING):
    found = measure(CausalNetwork(model), [ids], config, Way(6, 3))
    return {name: [value for block in one.blocks for value in block] for name, one in found.items()}


@pytest.mark.parametrize("count", [2, 6, 7, 8, 30])
@pytest.mark.parametrize(("context", "stride"), [(6, 1), (6, 3), (6, 6), (1, 1)])
def test_windows_score_every_token_once_from_a_past_that_is_long_enough(count, context, stride):
    found = list(windows(count, context=context, stride=stride))
    scored = [place for window in found for place in range(window.done, window.end)]
    assert scored == list(range(1, count))
    for window in found:
        assert window.end - window.begin <= context + 1
        assert window.done - window.begin >= min(window.done, context - stride + 1)


def test_each_kind_scores_every_token(model):
    found = nats(model, IDS)
    assert list(found) == ["", "cache", "dynamic", "dynamic_cache"]
    assert {len(values) for values in found.values()} == {len(IDS) - 1}
    assert len({sum(values) for values in found.values()}) == 4


def test_probabilities_of_the_last_token_sum_to_one(model):
    totals = dict.fromkeys(KINDS, 0.0)
    for token in range(V):
        for name, values in nats(model, [*IDS, token]).items():
            totals[name] += math.exp(-values[-1])
    assert totals == pytest.approx(dict.fromkeys(KINDS, 1.0), abs=1e-4)


@pytest.mark.parametrize("place", [3, 6, 7, 12, 16])
def test_nobody_peeks(model, place):
    """Another token at one place: what came before it is as likely as it was."""
    changed = [*IDS[:place], (IDS[place] + 1) % V, *IDS[place + 1 :]]
    before, after = nats(model, IDS), nats(model, changed)
    for name in KINDS:
        assert before[name][: place - 1] == pytest.approx(after[name][: place - 1], abs=1e-6), name
        assert before[name][place - 1] != after[name][place - 1], name


def test_nothing_to_remember_with_is_the_plain_score(model):
    """No share, and a rate that is too small to move anything."""
    found = nats(model, IDS, LikelihoodConfig(cache=6, cache_share=0.0, dynamic=1e-30, dynamic_decay=0.0))
    assert found["cache"] == found[""]
    assert found["dynamic"] == pytest.approx(found[""], abs=1e-6)
    assert list(nats(model, IDS, LikelihoodConfig())) == [""]


def test_a_text_that_repeats_itself_is_likelier_with_a_memory(model):
    found = {name: sum(values[30:]) for name, values in nats(model, [1, 4, 2, 5] * 20).items()}
    assert found["cache"] < found[""]
    assert found["dynamic"] < found[""]


def test_the_model_is_as_it_was_also_after_an_interruption(model):
    kept = {name: value.clone() for name, value in model.state_dict().items()}

    calls = []

    def stop(done, total):
        calls.append(done)
        if len(calls) > total + 2:  # while it learns
            raise KeyboardInterrupt

    nats(model, IDS)
    with pytest.raises(KeyboardInterrupt):
        measure(CausalNetwork(model), [IDS], REMEMBERING, Way(6, 3), on_progress=stop)
    assert all(torch.equal(value, kept[name]) for name, value in model.state_dict().items())
    assert not model.training
    assert all(weight.grad is None for weight in model.parameters())


def test_a_text_knows_nothing_of_the_one_before_it_except_by_a_memory(model):
    """Alone and after another text the plain score is the same; the cache has seen more."""
    both = measure(CausalNetwork(model), [IDS, IDS], REMEMBERING, Way(6, 3))
    alone = measure(CausalNetwork(model), [IDS], REMEMBERING, Way(6, 3))
    half = len(both[""].blocks) // 2
    assert both[""].blocks == [*alone[""].blocks, *alone[""].blocks]
    for name in KINDS[1:]:
        assert both[name].blocks[:half] == alone[name].blocks
        assert both[name].blocks[half:] != alone[name].blocks


# --- with a memory of states -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2, 6, 7, 8, 30])
def test_segments_read_and_score_every_token_once(count):
    found = list(segments(count, context=6))
    assert [place for window in found for place in range(window.done, window.end)] == list(range(1, count))
    assert all(window.begin == window.done - 1 for window in found)


def test_a_memory_of_everything_is_one_wide_pass_for_readers_and_learners(model):
    """A learner that learns nothing keeps states, the plain reader keys and values: both equal one pass."""
    config = LikelihoodConfig(dynamic=1e-30, dynamic_decay=0.0)
    whole = measure(CausalNetwork(model), [IDS], LikelihoodConfig(), Way(len(IDS), len(IDS)))[""]
    parts = measure(CausalNetwork(model), [IDS, IDS], config, Way(3, 3, 100))
    for name in ("", "dynamic"):
        values = [value for block in parts[name].blocks for value in block]
        assert values == pytest.approx([*whole.blocks[0], *whole.blocks[0]], abs=1e-5)  # the second text knows no first
        assert parts[name].read == "context 3, memory 100"


def test_learning_changes_what_is_made_of_remembered_states(model):
    found = measure(CausalNetwork(model), [IDS], REMEMBERING, Way(3, 3, 5))
    sums = {name: sum(map(sum, one.blocks)) for name, one in found.items()}
    assert len(set(sums.values())) == 4


@pytest.mark.parametrize(
    ("settings", "trained", "way"),
    [
        ({}, 0, Way(8, 4)),
        ({"stride": 3}, 0, Way(8, 3)),
        ({}, 20, Way(8, 8, 20)),
        ({"memory": 0}, 20, Way(8, 4)),
        ({"memory": 5}, 20, Way(8, 8, 5)),
        ({"memory": 5, "stride": 8}, 0, Way(8, 8, 5)),
    ],
)
def test_a_text_is_read_as_in_training_unless_somebody_says_otherwise(settings, trained, way):
    assert way_of_reading(LikelihoodConfig(**settings), 8, trained) == way
