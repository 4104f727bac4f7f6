import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.decoding.beam import BeamConfig, beam_search
from clearformer.decoding.penalty import Average, Gnmt, NoPenalty
from clearformer.decoding.rules import Rules
from clearformer.decoding.stop import Exhaust, FullBeam, PresentLength, Proved, Standing, TopEnded
from decoding.steppers import EOS, TableModel, plain_beam_search

RULES = Rules(eos=EOS)


def penalties():
    alphas = st.floats(-2, 3)
    return st.one_of(
        st.just(NoPenalty()),
        st.builds(Gnmt, alphas),
        st.builds(Average, alphas, count_eos=st.booleans()),
    )


@settings(max_examples=150, deadline=None)
@given(
    penalty=penalties(),
    beam=st.integers(2, 4),
    data=st.data(),
    force_eos=st.booleans(),
    eos_bias=st.floats(-1, 3),
    grid=st.sampled_from([0.0, 0.5]),
)
def test_the_proved_stop_loses_nothing(penalty, beam, data, force_eos, eos_bias, grid):
    nbest = data.draw(st.integers(1, beam))
    source = data.draw(st.integers(0, 1000))
    model = TableModel(vocab=4, eos_bias=round(eos_bias, 1), grid=grid)
    proved, exhausted = (
        beam_search(
            model,
            [source],
            rules=RULES,
            config=BeamConfig(beam=beam, nbest=nbest, penalty=penalty, stop=stop, force_eos=force_eos),
            max_len=7,
        )
        for stop in (Proved(), Exhaust())
    )
    assert proved == exhausted


def test_the_proved_stop_does_stop_early():
    class Counting(TableModel):
        steps = itertools.count()

        def step(self, tokens, state):
            next(self.steps)
            return super().step(tokens, state)

    model = Counting(vocab=6, eos_bias=6.0)
    beam_search(model, [3], rules=RULES, config=BeamConfig(penalty=NoPenalty()), max_len=500)
    assert next(model.steps) < 20


def test_the_other_rules_do_lose_something():
    """Why the proof matters: with a length penalty, stopping by count or by present length misses better hypotheses."""
    model = TableModel(vocab=4, eos_bias=1.0)
    for stop in (FullBeam(), PresentLength()):
        missed = 0
        for source in range(100):
            found, best = (
                beam_search(
                    model,
                    [source],
                    rules=RULES,
                    config=BeamConfig(beam=2, penalty=Average(1.0), stop=rule),
                    max_len=8,
                )[0][0].score
                for rule in (stop, Proved())
            )
            assert found <= best
            missed += found < best
        assert missed > 0


# What each rule means, written once more with the plain search's lists.
PLAIN = {
    FullBeam(): lambda finished, running, length, top: len(finished) >= 3,
    PresentLength(): lambda finished, running, length, top: len(finished) >= 3 and running / length <= finished[2][2],
    TopEnded(): lambda finished, running, length, top: top and len(finished) >= 2,
}


@pytest.mark.parametrize(("stop", "done"), PLAIN.items(), ids=map(repr, PLAIN))
@pytest.mark.parametrize("force_eos", [True, False])
@pytest.mark.parametrize("first_come", [True, False])
def test_rules_equal_their_plain_description(stop, done, force_eos, first_come):
    model, penalty = TableModel(vocab=5, eos_bias=0.5), Average(1.0)
    config = BeamConfig(beam=3, nbest=2, penalty=penalty, stop=stop, force_eos=force_eos, first_come=first_come)
    for source, found in enumerate(beam_search(model, range(40), rules=RULES, config=config, max_len=8)):
        expected = plain_beam_search(
            model,
            source,
            beam=3,
            nbest=2,
            max_len=8,
            penalty=penalty,
            done=done,
            force_eos=force_eos,
            first_come=first_come,
        )
        assert [h.tokens for h in found] == [tokens for tokens, _, _ in expected]
        assert [h.score for h in found] == pytest.approx([value for _, _, value in expected])


@pytest.mark.parametrize(("best_running", "hopeless"), [(-4.9999, False), (-5.0, True), (-5.0001, True)])
def test_the_bound_is_sharp(best_running, hopeless):
    """At ten tokens a total of -5 would score -0.5, as good as the finished one and later: not better."""
    standing = Standing(
        best_running=torch.tensor([best_running]).double(),
        finished_scores=torch.tensor([[-0.5]]).double(),
        finished_count=torch.tensor([1]),
        top_ended=torch.tensor([False]),
        scored=4,
        last_divisor=torch.tensor([10.0]).double(),
        nbest=1,
        penalty=Average(1.0),
    )
    assert Proved().settled(standing).tolist() == [hopeless]


def test_by_hand():
    """Two sentences, one finished hypothesis each; the mean penalty; at most ten tokens."""
    standing = Standing(
        best_running=torch.tensor([-4.0, -6.0]),
        finished_scores=torch.tensor([[-0.5, -torch.inf], [-0.5, -torch.inf]]),
        finished_count=torch.tensor([1, 1]),
        top_ended=torch.tensor([True, False]),
        scored=4,
        last_divisor=torch.tensor([10.0, 10.0]),
        nbest=1,
        penalty=Average(1.0),
    )
    # At ten tokens the running ones could still score -0.4 and -0.6: only the second is hopeless.
    assert Proved().settled(standing).tolist() == [False, True]
    assert Exhaust().settled(standing).tolist() == [False, False]
    assert FullBeam().settled(standing).tolist() == [False, False]
    assert PresentLength().settled(standing).tolist() == [False, False]
    assert TopEnded().settled(standing).tolist() == [True, False]
