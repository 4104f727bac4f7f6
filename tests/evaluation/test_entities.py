"""Entities found: exact in span and type, with the published figures of seven systems as the proof."""

import os
from pathlib import Path

import pytest

from clearformer.data.readers.conll import read_conll
from clearformer.evaluation.entities import score_entities

# Derczynski et al. 2017, table of the results on entities: precision, recall, F1.
PUBLISHED = {
    "uh_ritual": (57.54, 32.90, 41.86),
    "spinningbytes": (47.09, 35.96, 40.78),
    "sjtu_adapt": (50.21, 33.83, 40.42),
    "arcada": (47.40, 34.57, 39.98),
    "flytxt": (47.92, 31.97, 38.35),
    "mic-cis": (40.97, 33.83, 37.06),
    "drexel_cci": (50.39, 17.79, 26.30),
}


@pytest.mark.corpora
@pytest.mark.parametrize("system", PUBLISHED)
def test_published_figures_come_out(system):
    folder = Path(os.environ["CLEARFORMER_DATA"]) / "wnut-17"
    wanted = [one.tags for one in read_conll(folder / "test.conll.gz")]
    found = [one.tags for one in read_conll(folder / "submissions" / f"{system}.conll.gz", illegal="repair")]
    scores = score_entities(found, wanted)
    mine = tuple(round(100 * scores[name], 2) for name in ("precision", "recall", "f1"))
    assert mine == PUBLISHED[system]
    assert scores["f1_low"] < scores["f1"] < scores["f1_high"]
    assert scores["entities"] == 1079


WANTED = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "O"]]


@pytest.mark.parametrize(
    ("found", "precision", "recall"),
    [
        (WANTED, 1.0, 1.0),
        ([["B-PER", "I-PER", "O", "O"], ["O", "O"]], 1.0, 0.5),
        ([["B-PER", "O", "O", "B-LOC"], ["O", "O"]], 0.5, 0.5),  # half a name is none
        ([["B-PER", "I-PER", "O", "B-PER"], ["O", "O"]], 0.5, 0.5),  # nor is one of another type
        ([["B-PER", "B-PER", "O", "B-LOC"], ["B-LOC", "O"]], 0.25, 0.5),
        ([["I-PER", "I-PER", "O", "I-LOC"], ["O", "O"]], 1.0, 1.0),  # what continues nothing begins
        ([["O"] * 4, ["O"] * 2], 0.0, 0.0),
    ],
)
def test_both_ends_and_the_type_count(found, precision, recall):
    scores = score_entities(found, WANTED)
    assert scores["precision"] == pytest.approx(precision)
    assert scores["recall"] == pytest.approx(recall)
    total = precision + recall
    assert scores["f1"] == pytest.approx(2 * precision * recall / total if total else 0.0)
    assert scores["f1_low"] <= scores["f1"] <= scores["f1_high"]


def test_types_have_scores_of_their_own():
    scores = score_entities([["B-PER", "O", "O", "B-LOC"], ["O", "O"]], WANTED)
    assert scores["f1:LOC"] == 1.0
    assert scores["f1:PER"] == 0.0


def test_the_interval_is_the_same_each_time():
    found = [["B-PER", "I-PER", "O", "O"], ["O", "O"]]
    assert score_entities(found, WANTED) == score_entities(found, WANTED)
    assert "f1_low" not in score_entities(found, WANTED, interval=False)


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(ValueError, match="1 sentences cannot be compared with 2"):
        score_entities([["O"]], WANTED)
    with pytest.raises(ValueError, match="sentence 2 has 2 words, but 1 tags"):
        score_entities([WANTED[0], ["O"]], WANTED)
