"""What a tagger gets wrong: missed, invented and misnamed entities, each with its place and how sure it was."""

import numpy as np
import pytest

from clearformer.inference.legal_tags import LegalTags
from clearformer.inference.reading_settings import ReadingConfig
from clearformer.tasks.tag_report import NOTHING, HeldSentences, report
from clearformer.tasks.task import Judging, Scoring
from clearformer.training.distributed import Ranks

LABELS = ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")


class Said:
    """A tagger that is nine tenths sure of what a test wants it to say."""

    def __init__(self, *sentences):
        self.sentences, self.labels, self.legal = sentences, LABELS, LegalTags(LABELS)

    def read_words(self, sentences, config):
        return [
            np.log(np.array([[0.9 if label == tag else 0.025 for label in LABELS] for tag in tags]))
            for tags in self.sentences
        ]


def held(*sentences):
    words = [tuple(word for word, _ in one) for one in sentences]
    return HeldSentences(
        words=words,
        tags=[tuple(tag for _, tag in one) for one in sentences],
        places=[f"a.conll:{n}" for n in range(len(words))],
    )


JUDGING = Judging(options=ReadingConfig(), scoring=Scoring(), ranks=Ranks.alone(), thorough=True)


def test_each_kind_of_mistake_has_its_line():
    given = held(
        [("Ada", "B-PER"), ("met", "O"), ("Paris", "B-LOC")],
        [("in", "O"), ("New", "B-LOC"), ("York", "I-LOC")],
        [("the", "O"), ("Rome", "B-LOC")],
    )
    found = report(Said(("B-PER", "B-LOC", "B-PER"), ("O", "B-LOC", "O"), ("O", "O")), given, JUDGING)
    by_found = {one.found: one for one in found.mistakes}
    assert by_found["PER “Paris”"].wanted == "LOC “Paris”"
    assert by_found["LOC “met”"].wanted == NOTHING
    assert by_found["LOC “New”"].wanted == "LOC “New York”"  # the entity that it touches
    assert by_found[NOTHING].wanted == "LOC “Rome”"
    assert by_found[NOTHING].place == "a.conll:2"
    assert found.mistaken == 4
    assert all(0.5 < one.probability < 1 for one in found.mistakes)


def test_types_are_scored_and_confused_over_the_same_words():
    given = held([("Ada", "B-PER"), ("Paris", "B-LOC"), ("Rome", "B-LOC")])
    found = report(Said(("B-PER", "B-PER", "B-LOC")), given, JUDGING)
    scores = {one.name: one for one in found.classes}
    assert (scores["PER"].precision, scores["PER"].recall) == (0.5, 1.0)
    assert (scores["LOC"].precision, scores["LOC"].recall, scores["LOC"].count) == (1.0, 0.5, 2)
    table = dict(zip(found.confusion.labels, found.confusion.counts, strict=True))
    assert table["LOC"][found.confusion.labels.index("PER")] == 1
    assert found.scores["f1"] == pytest.approx(2 / 3)


def test_a_type_that_the_model_never_saw_is_a_mistake_and_no_error():
    given = held([("Paris", "B-CITY"), ("x", "O")])
    [mistake] = report(Said(("O", "O")), given, JUDGING).mistakes
    assert (mistake.wanted, mistake.probability) == ("CITY “Paris”", 1.0)
