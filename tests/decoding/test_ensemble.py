"""Models that decide together: the mean of their probabilities, by whatever search."""

import math

import pytest
import torch

from clearformer.decoding.beam import BeamConfig, beam_search
from clearformer.decoding.ensemble import Ensemble, mean_log_probs
from clearformer.decoding.greedy import greedy
from clearformer.decoding.rules import Rules
from decoding.steppers import EOS, TableModel

RULES = Rules(eos=EOS)
MEMBERS = [TableModel(vocab=6, eos_bias=-0.5), TableModel(vocab=6, eos_bias=1.0), TableModel(vocab=6, grid=1.0)]


def mean_of(source: int, tokens: tuple[int, ...]) -> list[float]:
    """The readable way, for one sentence and in plain numbers."""
    rows = zip(*(member.log_probs(source, tokens) for member in MEMBERS), strict=True)
    return [math.log(sum(map(math.exp, row)) / len(MEMBERS)) for row in rows]


def test_the_mean_of_probabilities_not_of_their_logarithms():
    logits = torch.tensor([[0.9, 0.1], [0.5, 0.5]]).log()
    assert mean_log_probs(list(logits)).exp().tolist() == pytest.approx([0.7, 0.3])


def test_what_one_is_sure_cannot_be_stays_possible():
    sure, unsure = torch.tensor([0.0, -torch.inf]), torch.tensor([0.0, 0.0])
    assert mean_log_probs([sure, unsure]).exp().tolist() == pytest.approx([0.75, 0.25])


def test_every_token_is_the_likeliest_of_the_mean():
    for source, found in enumerate(greedy(Ensemble(MEMBERS), range(30), rules=RULES, max_len=8)):
        said = [*found.tokens, EOS][: len(found.token_log_probs)]
        for position, token in enumerate(said):
            log_probs = mean_of(source, found.tokens[:position])
            assert token == log_probs.index(max(log_probs))
            assert found.token_log_probs[position] == pytest.approx(log_probs[token], abs=1e-5)


@pytest.mark.parametrize("beam", [2, 5])
def test_a_beam_scores_with_the_mean_though_rows_fork_and_leave(beam):
    config = BeamConfig(beam=beam, nbest=2)
    for source, found in enumerate(beam_search(Ensemble(MEMBERS), range(20), rules=RULES, config=config, max_len=7)):
        for one in found:
            said = [*one.tokens, EOS][: len(one.token_log_probs)]
            recomputed = [mean_of(source, one.tokens[:place])[token] for place, token in enumerate(said)]
            assert one.token_log_probs == pytest.approx(recomputed, abs=1e-5)


@pytest.mark.parametrize("beam", [1, 4])
def test_a_model_and_its_copy_say_what_the_model_says(beam):
    config = BeamConfig(beam=beam)
    asked = {"source": range(20), "rules": RULES, "config": config, "max_len": 7}
    alone, twice = beam_search(MEMBERS[0], **asked), beam_search(Ensemble([MEMBERS[0]] * 2), **asked)
    assert [one.tokens for [one] in alone] == [one.tokens for [one] in twice]


def test_a_row_that_joins_is_joined_in_every_member():
    ensemble = Ensemble(MEMBERS)
    (first, early), (new, late) = ensemble.start([3]), ensemble.start([4])
    _, early = ensemble.step(first, early)
    tokens = torch.cat((torch.tensor([2]), new))
    together, _ = ensemble.step(tokens, early.join(late))
    assert together[0].tolist() == pytest.approx(mean_of(3, (2,)), abs=1e-5)
    assert together[1].tolist() == pytest.approx(mean_of(4, ()), abs=1e-5)
