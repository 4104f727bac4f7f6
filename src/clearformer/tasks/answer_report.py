"""How sure a model that answers may be of itself, and what it gets wrong."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from clearformer.data.readers.squad import AskedQuestion
from clearformer.evaluation.calibration import calibration_error, settle_temperature
from clearformer.evaluation.exact_match import is_unspaced, score_answer, score_answers
from clearformer.evaluation.report import ErrorReport, Mistake, confuse, worst
from clearformer.folder.preprocessing import Outcome
from clearformer.inference.answer_finder import Answerer
from clearformer.tasks.task import Judging, Settled

LEAST = 20  # questions, below which nothing is fitted
ANSWER, NO_ANSWER = "an answer", "no answer"


@dataclass(frozen=True, kw_only=True)
class HeldQuestions:
    """Questions with the answers that people gave, and the file that each stands in."""

    questions: list[AskedQuestion]
    places: list[str]

    @property
    def all_answered(self) -> bool:
        return all(asked.answers for asked in self.questions)

    def wanted(self) -> list[list[str]]:
        """The texts of the answers that people gave to each question."""
        return [[answer.text for answer in asked.answers] for asked in self.questions]

    def asked(self) -> list[tuple[str, str]]:
        """Each question with its context."""
        return [(asked.question, asked.context) for asked in self.questions]


def settle(answerer: Answerer, held: HeldQuestions, judging: Judging) -> Settled:
    """The temperature with which an answer's probability says how often such answers are right."""
    count = min(len(held.questions), judging.scoring.examples)
    if count < LEAST or not answerer.may_decline:
        return Settled(outcome=Outcome(), said="probabilities are left as they are: there is nothing to fit them on")
    wanted = held.wanted()[:count]
    unspaced = is_unspaced([text for given in wanted for text in given])
    read = list(answerer.read(held.asked()[:count], judging.options))
    answers = [answerer.choose([one], judging.options) for one in read]
    right = np.array(
        [score_answer(one.text, given, unspaced=unspaced)[0] for one, given in zip(answers, wanted, strict=True)]
    )
    bands = [one.band.flatten() for one in read]
    bests = [float(band.max()) if answer.text else 0.0 for band, answer in zip(bands, answers, strict=True)]

    def sure(temperature: float) -> NDArray[np.float64]:
        zero = torch.zeros(1 if judging.options.no_answer else 0)
        totals = [float(torch.cat([band / temperature, zero]).logsumexp(0)) for band in bands]
        shares: NDArray[np.float64] = np.exp(np.minimum(0.0, np.array(bests) / temperature - np.array(totals)))
        return shares

    def mean_loss(temperature: float) -> float:
        shares = np.clip(sure(temperature), 1e-6, 1 - 1e-6)
        return -float((right * np.log(shares) + (1 - right) * np.log(1 - shares)).mean())

    found, said = settle_temperature(
        mean_loss, lambda temperature: calibration_error(list(sure(temperature)), list(right > 0))
    )
    return Settled(outcome=Outcome(temperature=found), said=said)


def report(answerer: Answerer, held: HeldQuestions, judging: Judging) -> ErrorReport:
    """Scores, whether an answer was given where there is one, and the surest mistakes."""
    options = replace(judging.options, no_answer=judging.options.no_answer and not held.all_answered)
    answers, wanted = answerer.answer_all(held.asked(), options), held.wanted()
    found = [one.text for one in answers]
    unspaced = is_unspaced([text for given in wanted for text in given])
    mistakes = [
        Mistake(
            text=f"{asked.question} … {asked.context}",
            wanted=" / ".join(dict.fromkeys(given)) or NO_ANSWER,
            found=one.text or NO_ANSWER,
            probability=one.probability,
            place=place,
        )
        for asked, place, one, given in zip(held.questions, held.places, answers, wanted, strict=True)
        if not score_answer(one.text, given, unspaced=unspaced)[0]
    ]
    pairs = zip(wanted, found, strict=True)
    kinds = [(ANSWER if given else NO_ANSWER, ANSWER if said else NO_ANSWER) for given, said in pairs]
    right = [bool(score_answer(said, given, unspaced=unspaced)[0]) for said, given in zip(found, wanted, strict=True)]
    error = calibration_error([one.probability for one in answers], right)
    return ErrorReport(
        scores={**score_answers(found, wanted), "ece": error},
        confusion=None if held.all_answered else confuse(kinds),
        mistakes=worst(mistakes),
        mistaken=len(mistakes),
    )
