"""What a model does: shares counted by hand, and models that were really made ill."""

import dataclasses

import pytest

from clearformer import api
from clearformer.diagnosis.behaviour import Behaviour, Pairs, copies, judge_behaviour, loss_of, observe, repetition

WELL = Behaviour(
    sentences=100, bleu=30.0, loss=2.0, loss_of_wrong_sources=5.0, training_loss=1.5, length_ratio=1.0,
    repetition=0.01, repetition_of_people=0.01, copies=0.02, copies_of_people=0.02,
)  # fmt: skip


def test_repetition_counts_sequences_that_came_before():
    assert repetition([[1, 2, 3, 4, 5]]) == 0
    assert repetition([[1, 2, 3, 1, 2, 3]]) == 1 / 4  # 123 231 312 123
    assert repetition([[7] * 6, [1, 2, 3]]) == 3 / 5
    assert repetition([[], [1, 2]]) == 0


def test_copies_are_sentences_that_came_back():
    assert copies(["A dog.", "Two  cats."], ["a dog. ", "Zwei Katzen."]) == 1 / 2


def test_a_model_that_is_well_has_nothing():
    assert judge_behaviour(WELL) == []
    assert judge_behaviour(dataclasses.replace(WELL, training_loss=None)) == []  # a model without its run


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"loss_of_wrong_sources": 2.1}, "ignores-the-source"),
        ({"loss": 3.0, "training_loss": 1.0}, "overfits"),
        ({"repetition": 0.2}, "repeats-itself"),
        ({"length_ratio": 0.5}, "too-short"),
        ({"length_ratio": 2.0}, "too-long"),
        ({"copies": 0.5}, "copies-the-source"),
    ],
)
def test_each_trouble_has_its_name_its_numbers_and_a_remedy(changes, name):
    [finding] = judge_behaviour(dataclasses.replace(WELL, **changes))
    assert finding.name == name
    assert finding.remedy
    assert set(changes) & finding.evidence.keys()


@pytest.mark.parametrize(
    "trouble", [{"repetition": 0.3, "repetition_of_people": 0.28}, {"copies": 0.5, "copies_of_people": 0.5}]
)
def test_what_people_do_too_is_no_trouble(trouble):
    assert judge_behaviour(dataclasses.replace(WELL, **trouble)) == []


def test_the_loss_is_the_mean_over_all_tokens(healthy):
    model = api.load(healthy / "model")
    texts = [("red dog", "rot Hund"), ("one", "eins")]
    by_hand = [value for source, target in texts for value in model.score(source, target)]
    assert loss_of(model, *zip(*texts, strict=True)) == pytest.approx(-sum(by_hand) / len(by_hand))


def found_in(run, dev):
    pairs = Pairs(sources=[source for source, _ in dev], references=[target for _, target in dev])
    return {finding.name for finding in judge_behaviour(observe(api.load(run / "model"), pairs))}


def test_a_model_whose_targets_were_shuffled_ignores_the_source(shuffled, dev):
    assert "ignores-the-source" in found_in(shuffled, dev)


def test_a_model_that_learned_to_stutter_repeats_itself_and_is_too_long(stuttering, dev):
    assert {"repeats-itself", "too-long"} <= found_in(stuttering, dev)


def test_a_model_that_learned_cut_sentences_is_too_short(cut, dev):
    assert "too-short" in found_in(cut, dev)


def test_a_model_that_was_shown_copies_copies(copying, dev):
    assert "copies-the-source" in found_in(copying, dev)


def test_a_healthy_model_has_nothing(healthy, dev):
    assert found_in(healthy, dev) == set()
