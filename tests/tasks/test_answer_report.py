"""What a model that answers gets wrong, and a probability that is as often right as it says."""

import pytest
import torch

from clearformer.data.readers.squad import AskedQuestion, GivenAnswer
from clearformer.inference.answer_finder import Answerer, ReadContext
from clearformer.inference.reading_settings import AnswerConfig
from clearformer.tasks.answer_report import HeldQuestions, report, settle
from clearformer.tasks.task import Judging, Scoring
from clearformer.training.distributed import Ranks

JUDGING = Judging(options=AnswerConfig(), scoring=Scoring(), ranks=Ranks.alone(), thorough=True)


class Sure(Answerer):
    """Says `yes` of the contexts that begin so, and nothing of the others, with as much certainty as it is told."""

    def __init__(self, odds):
        self.may_decline, self.odds = True, odds

    def read(self, asked, options):
        for _, context in asked:
            first = self.odds if context.startswith("yes") else -self.odds
            yield ReadContext(text=context, places=((0, len(context.split()[0])),), band=torch.tensor([[first]]))


def held(*pairs):
    """Contexts with the answer that people gave, "" for none."""
    asked = [
        AskedQuestion(f"q{n}", "really ?", context, (GivenAnswer(answer, 0),) if answer else ())
        for n, (context, answer) in enumerate(pairs)
    ]
    return HeldQuestions(questions=asked, places=[f"a.json, question {one.id}" for one in asked])


def test_mistakes_are_named_and_a_missing_answer_is_one():
    given = held(("yes x", "yes"), ("yes y", ""), ("no z", "no"), ("no w", ""))
    found = report(Sure(3.0), given, JUDGING)
    assert [(one.found, one.wanted) for one in found.mistakes] == [("yes", "no answer"), ("no answer", "no")]
    assert found.mistakes[0].place == "a.json, question q1"
    assert found.scores["exact"] == 0.5
    assert sum(map(sum, found.confusion.counts)) == 4
    assert found.scores["ece"] == pytest.approx(torch.tensor(3.0).sigmoid().item() - 0.5, abs=1e-4)


def test_where_all_have_answers_nothing_is_confused():
    assert report(Sure(1.0), held(("yes x", "yes"), ("yes y", "y")), JUDGING).confusion is None


def test_a_model_that_is_too_sure_is_cooled():
    """It is right in three of four cases and says 99.9 %: a fitted temperature makes it say 75 %."""
    given = held(*[("yes x", "yes" if n % 4 else "") for n in range(80)])
    settled = settle(Sure(7.0), given, JUDGING)
    assert torch.tensor(7.0 / settled.outcome.temperature).sigmoid().item() == pytest.approx(0.75, abs=0.01)
    assert "expected calibration error on dev 0.249 before, 0.00" in settled.said


def test_a_handful_of_questions_decides_nothing():
    assert settle(Sure(7.0), held(("yes x", "")), JUDGING).outcome.temperature == 1.0
