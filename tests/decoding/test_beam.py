import dataclasses

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.decoding.beam import BeamConfig, beam_search, close_ranks
from clearformer.decoding.dialects import ctranslate2, fairseq, hugging_face
from clearformer.decoding.greedy import greedy
from clearformer.decoding.penalty import Average, Gnmt, NoPenalty
from clearformer.decoding.rules import Rules
from clearformer.decoding.stop import Exhaust, FullBeam, PresentLength, Proved
from decoding.steppers import EOS, TableModel, all_hypotheses, plain_beam_search, score

RULES = Rules(eos=EOS)
PENALTIES = [NoPenalty(), Gnmt(0.6), Gnmt(1.0), Average(1.0), Average(0.5), Average(2.0), Average(-1.0)]
CONFIGS = {
    "paper": BeamConfig(beam=4, nbest=4),
    "average": BeamConfig(beam=3, nbest=2, penalty=Average()),
    "no penalty": BeamConfig(beam=5, nbest=1, penalty=NoPenalty()),
    "one": BeamConfig(beam=1),
    "wider than the vocabulary": BeamConfig(beam=12, nbest=12, penalty=Average()),
    "fairseq": fairseq(beam=3, nbest=3),
    "hugging face": hugging_face(beam=3, nbest=3),
    "hugging face, early": hugging_face(beam=3, nbest=3, early_stopping=True),
    "ctranslate2": ctranslate2(beam=3, nbest=3),
    "ctranslate2, no penalty": ctranslate2(beam=3, nbest=2, alpha=0),
}


def search(model, source, config, max_len=6, **options):
    return beam_search(model, source, rules=RULES, config=config, max_len=max_len, **options)


@pytest.mark.parametrize("force_eos", [True, False])
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_a_wide_beam_finds_what_exhaustive_search_finds(penalty, force_eos):
    model, max_len, nbest = TableModel(vocab=4), 4, 10
    config = BeamConfig(beam=3**max_len * 4, nbest=nbest, penalty=penalty, force_eos=force_eos)
    for source, found in enumerate(search(model, range(8), config, max_len)):
        every = all_hypotheses(model, source, max_len, force_eos)
        best = sorted(((score(*one, penalty), *one) for one in every), key=lambda one: -one[0])[:nbest]
        assert [h.tokens for h in found] == [tokens for _, tokens, _ in best]
        assert [h.score for h in found] == pytest.approx([value for value, _, _ in best])


@pytest.mark.parametrize("grid", [0.0, 1.0], ids=["distinct", "many ties"])
@pytest.mark.parametrize("beam", [2, 3, 5])
@pytest.mark.parametrize("penalty", [Gnmt(0.6), Average(1.0), NoPenalty()], ids=repr)
def test_equals_the_plain_search_of_one_sentence_at_a_time(penalty, beam, grid):
    model = TableModel(vocab=6, grid=grid)
    config = BeamConfig(beam=beam, nbest=beam, penalty=penalty, stop=Exhaust())
    for source, found in enumerate(search(model, range(20), config)):
        expected = plain_beam_search(
            model,
            source,
            beam=beam,
            nbest=beam,
            max_len=6,
            penalty=penalty,
            done=lambda *_: False,
            force_eos=True,
        )
        assert [(h.tokens, pytest.approx(h.token_log_probs)) for h in found] == [(t, s) for t, s, _ in expected]


@pytest.mark.parametrize("force_eos", [False, True])
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@pytest.mark.parametrize("stop", [Proved(), FullBeam(), PresentLength(), Exhaust()], ids=repr)
def test_a_beam_of_one_is_greedy_decoding(penalty, stop, force_eos):
    model = TableModel(vocab=6, eos_bias=-0.5)
    config = BeamConfig(beam=1, penalty=penalty, stop=stop, force_eos=force_eos)
    alone = greedy(model, range(30), rules=RULES, max_len=7, force_eos=force_eos)
    assert any(len(found.tokens) == 7 for found in alone), "some are as long as they may be"
    assert force_eos == all(found.ended for found in alone)
    for expected, (found,) in zip(alone, search(model, range(30), config, max_len=7), strict=True):
        assert found.tokens == expected.tokens
        assert found.token_log_probs == expected.token_log_probs
        assert found.log_prob == pytest.approx(expected.log_prob)


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_company_changes_nothing(config, data):
    model = TableModel(vocab=5, eos_bias=data.draw(st.sampled_from([-1.0, 0.0, 1.0])), grid=0.5)
    sources = data.draw(st.lists(st.integers(0, 50), min_size=1, max_size=6))
    lengths = data.draw(st.lists(st.integers(1, 7), min_size=len(sources), max_size=len(sources)))
    together = search(model, sources, config, lengths)
    for source, length, nbest in zip(sources, lengths, together, strict=True):
        assert search(model, [source], config, [length]) == [nbest]  # to the last bit, scores included


def test_company_changes_nothing_with_every_rule_at_once():
    rules = Rules(eos=EOS, min_len=2, banned=(3,), no_repeat_ngram=2)
    model, config = TableModel(vocab=7), BeamConfig(beam=3, nbest=3)
    prefixes = [(), (2,), (4, 4, 4), (5, 6), ()]
    lengths = [5, 2, 7, 9, 2]
    together = beam_search(model, range(5), rules=rules, config=config, max_len=lengths, prefixes=prefixes)
    for source in range(5):
        alone = beam_search(
            model, [source], rules=rules, config=config, max_len=lengths[source], prefixes=[prefixes[source]]
        )
        assert alone == [together[source]]


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())
def test_nbest_is_sorted_unique_complete_and_adds_up(config):
    model = TableModel(vocab=6)
    for source, found in enumerate(search(model, range(30), config)):
        assert 1 <= len(found) <= config.nbest
        assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)
        assert len({(h.tokens, h.ended) for h in found}) == len(found)
        for h in found:
            assert EOS not in h.tokens
            assert len(h.tokens) <= 6
            assert h.log_prob == pytest.approx(sum(h.token_log_probs))
            assert h.score == pytest.approx(score(h.tokens, h.token_log_probs, config.penalty))
            said = [*h.tokens, EOS][: len(h.token_log_probs)]
            recomputed = [model.log_probs(source, h.tokens[:i])[token] for i, token in enumerate(said)]
            assert h.token_log_probs == pytest.approx(recomputed)


def test_equal_scores_prefer_the_lower_token_then_the_lower_slot():
    class Uniform:
        """Every token is equally likely, for ever: the order is decided by ties alone."""

        def start(self, source):
            return torch.zeros(len(source), dtype=torch.int64), self

        def step(self, tokens, state):
            return torch.zeros(len(tokens), 4), self

        def select(self, rows):
            return self

    config = BeamConfig(beam=3, nbest=3, penalty=NoPenalty(), stop=Exhaust(), force_eos=False)
    # Step 1: the end (token 0) and tokens 1, 2 fill the first three ranks. Then equals are ranked by token before slot:
    # the three hypotheses all end first, and after them come those that say 1, in the order of their parents.
    (found,) = beam_search(Uniform(), [None], rules=RULES, config=config, max_len=2)
    assert [h.tokens for h in found] == [(), (1,), (2,)]
    config = dataclasses.replace(config, force_eos=True)
    (found,) = beam_search(Uniform(), [None], rules=Rules(eos=EOS, min_len=2), config=config, max_len=2)
    assert [h.tokens for h in found] == [(1, 1), (2, 1), (3, 1)]


def test_a_forced_prefix_is_respected_and_scored():
    model, config = TableModel(vocab=6), BeamConfig(beam=3, nbest=3)
    prefixes = [(2, 3), (), (5,), (4, 4, 4)]
    results = search(model, range(4), config, prefixes=prefixes)
    for source, (prefix, found) in enumerate(zip(prefixes, results, strict=True)):
        assert len(found) == 3
        for h in found:
            assert h.tokens[: len(prefix)] == prefix
            assert h.token_log_probs[: len(prefix)] == pytest.approx(
                [model.log_probs(source, prefix[:i])[token] for i, token in enumerate(prefix)]
            )


@pytest.mark.parametrize("force_eos", [True, False])
def test_a_prefix_as_long_as_the_maximum_leaves_one_hypothesis(force_eos):
    config = BeamConfig(beam=3, nbest=3, force_eos=force_eos)
    ((only,),) = search(TableModel(), [0], config, max_len=2, prefixes=[(3, 4)])
    assert only.tokens == (3, 4)
    assert only.ended is force_eos


@pytest.mark.parametrize("force_eos", [True, False])
def test_minimum_and_maximum_length(force_eos):
    model = TableModel(vocab=6, eos_bias=2.0)
    config = BeamConfig(beam=3, nbest=3, force_eos=force_eos)
    lengths = [3, 4, 9, 5]
    results = beam_search(model, range(4), rules=Rules(eos=EOS, min_len=3), config=config, max_len=lengths)
    for max_len, found in zip(lengths, results, strict=True):
        assert all(3 <= len(h.tokens) <= max_len for h in found)
        assert all(h.ended or len(h.tokens) == max_len for h in found)


def test_no_ngram_twice_and_no_banned_token():
    rules = Rules(eos=EOS, banned=(2,), no_repeat_ngram=2)
    model = TableModel(vocab=4, eos_bias=-4.0)
    for found in beam_search(model, range(20), rules=rules, config=BeamConfig(beam=4, nbest=4), max_len=12):
        for h in found:
            pairs = list(zip(h.tokens, h.tokens[1:], strict=False))
            assert len(set(pairs)) == len(pairs)
            assert 2 not in h.tokens
    # Two words have four ordered pairs, so nothing is longer than five tokens: rows that may say nothing more must end,
    # even where the minimum length is out of reach.
    rules = dataclasses.replace(rules, min_len=10)
    for found in beam_search(model, range(20), rules=rules, config=BeamConfig(beam=4), max_len=12):
        assert found[0].ended
        assert len(found[0].tokens) <= 5


def test_finished_sentences_leave_the_batch():
    seen = []

    class Watched(TableModel):
        def step(self, tokens, state):
            seen.append(len(tokens))
            return super().step(tokens, state)

    search(Watched(vocab=6), range(3), BeamConfig(beam=4, stop=Exhaust()), max_len=[1, 3, 6])
    assert seen == [3, 12, 8, 8, 4, 4, 4]  # the first step computes nothing K times over


def test_no_sentences_no_hypotheses():
    assert search(TableModel(), [], BeamConfig()) == []


def test_hostile_arguments_are_refused_in_one_sentence():
    model, config = TableModel(vocab=5), BeamConfig()
    with pytest.raises(ValueError, match=r"^beam is 0; it must be at least 1$"):
        BeamConfig(beam=0)
    with pytest.raises(ValueError, match=r"^nbest is 5; it must be between 1 and the beam width 4$"):
        BeamConfig(nbest=5)
    with pytest.raises(ValueError, match=r"^max_len of sentence 1 is 0; it must be at least 1$"):
        search(model, [1, 2], config, max_len=[3, 0])
    with pytest.raises(ValueError, match=r"^the prefix of sentence 0 has 3 tokens, more than its max_len 2$"):
        search(model, [1], config, max_len=2, prefixes=[(2, 3, 4)])
    with pytest.raises(ValueError, match=r"^token 9 of the decoding rules is outside the vocabulary of 5 tokens$"):
        beam_search(model, [1], rules=Rules(eos=9), config=config, max_len=3)
    with pytest.raises(ValueError, match=r"^prefix token 7 is outside the vocabulary of 5 tokens$"):
        search(model, [1], config, prefixes=[(7,)])


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_broken_model_is_named_not_decoded(bad):
    class Broken(TableModel):
        def step(self, tokens, state):
            logits, state = super().step(tokens, state)
            logits[-1, 3] = bad
            return logits, state

    with pytest.raises(ValueError, match="not numbers at step 0"):
        search(Broken(), [1, 2], BeamConfig())


def test_an_impossible_prefix_is_named():
    class Never(TableModel):
        def step(self, tokens, state):
            logits, state = super().step(tokens, state)
            logits[:, 2] = -torch.inf
            return logits, state

    with pytest.raises(ValueError, match="sentence 1 probability zero"):
        search(Never(), [5, 6], BeamConfig(), prefixes=[(), (2,)])


@given(st.lists(st.booleans(), max_size=12))
def test_the_last_close_the_gaps_and_the_others_stay(going_on):
    places = close_ranks(torch.tensor(going_on, dtype=torch.bool)).tolist()
    assert sorted(places) == [place for place, goes in enumerate(going_on) if goes]
    assert all(place in (taken, *range(len(places), len(going_on))) for taken, place in enumerate(places))
