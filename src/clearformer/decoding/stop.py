"""When a sentence's beam search may end before the maximum length: a rule with a proof, and those of other programs.

Shape letters: N sentences still being searched, K beam.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import torch
from torch import Tensor

from clearformer.decoding.penalty import LengthPenalty
from clearformer.decoding.tree import Fate


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How the search of each sentence stands after a step. Every tensor is indexed by sentence; no row sees another."""

    best_running: Tensor  # N, total log-probability of the best unfinished hypothesis; -inf when there is none
    finished_scores: Tensor  # N K, penalised scores of the K best finished hypotheses, best first; -inf where missing
    finished_count: Tensor  # N, how many have finished so far
    top_ended: Tensor  # N, whether at any step the best candidate of all was one that ended
    scored: int  # tokens scored so far in every unfinished hypothesis
    last_divisor: Tensor  # N, the largest divisor of any hypothesis that ends at the sentence's maximum length
    nbest: int
    penalty: LengthPenalty


class StopRule(Protocol):
    """Decides which sentences are settled, and what that means for their unfinished hypotheses."""

    verdict: ClassVar[Fate]

    def settled(self, standing: Standing) -> Tensor:
        """Boolean, N. A sentence without unfinished hypotheses ends anyway; the rule need not check that."""
        ...


@dataclass(frozen=True)
class Exhaust:
    """Never stop early: search on until the maximum length."""

    verdict: ClassVar[Fate] = Fate.SEARCH_STOPPED

    def settled(self, standing: Standing) -> Tensor:
        return torch.zeros_like(standing.top_ended)


@dataclass(frozen=True)
class Proved:
    """Stop when no unfinished hypothesis can enter the n-best list any more. The result is that of `Exhaust`.

    Proof. Let S <= 0 be the total of an unfinished hypothesis with t scored tokens. Log-probabilities are never
    positive, so any completion has a total S' <= S. It ends with a length between t + 1 and the sentence's maximum, so
    its divisor d is at most D, the larger of the divisors at those two ends, because divisors are monotone in the
    length. Since S <= 0 and 0 < d <= D: S' / d <= S / d <= S / D (and where d = 0 the score is minus infinity). The
    best unfinished hypothesis has the largest S / D. If that does not exceed the n-th best finished score, no
    completion does; one that equals it ranks behind, because ties rank in the order in which they finished. Rounding
    keeps the argument: floating-point addition and division are monotone. QED.
    """

    verdict: ClassVar[Fate] = Fate.WORSE_THAN_FINISHED

    def settled(self, standing: Standing) -> Tensor:
        after = standing.scored + 1
        soonest = max(standing.penalty.divisor(after, ended=ended) for ended in (True, False))
        bound = standing.best_running / standing.last_divisor.clamp(min=soonest)
        nth_best = standing.finished_scores[:, standing.nbest - 1]
        return (standing.finished_count >= standing.nbest) & (bound <= nth_best)


@dataclass(frozen=True)
class FullBeam:
    """Stop when as many hypotheses have finished as the beam is wide, however good the unfinished ones look."""

    verdict: ClassVar[Fate] = Fate.SEARCH_STOPPED

    def settled(self, standing: Standing) -> Tensor:
        return standing.finished_count >= standing.finished_scores.size(1)


@dataclass(frozen=True)
class PresentLength:
    """Stop when K have finished and the best unfinished one, scored at its present length, is no better than the worst.

    A guess, not a bound: with a length penalty a longer continuation may still overtake.
    """

    verdict: ClassVar[Fate] = Fate.SEARCH_STOPPED

    def settled(self, standing: Standing) -> Tensor:
        guess = standing.best_running / standing.penalty.divisor(standing.scored, ended=False)
        full = standing.finished_count >= standing.finished_scores.size(1)
        return full & (guess <= standing.finished_scores[:, -1])


@dataclass(frozen=True)
class TopEnded:
    """Stop when n hypotheses have finished and the best candidate of some step was among them."""

    verdict: ClassVar[Fate] = Fate.SEARCH_STOPPED

    def settled(self, standing: Standing) -> Tensor:
        return standing.top_ended & (standing.finished_count >= standing.nbest)
