"""How probable it is that a translation is a good one, from how sure the model was of its tokens and from its length.

A model folder that was calibrated (`clearformer evaluate --calibrate`) holds a few weights in its provenance, under
`confidence`: a logistic regression on sentences with translations by people. Good means: chrF of the sentence, against
that translation, is at least a threshold that stands beside the weights. Nothing here needs a tensor.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from clearformer.inference.translation_settings import Translation

UNSURE = 0.2  # a translation that is good with a lower probability than this is worth a remark
KEY = "confidence"  # in the provenance of a model folder


def features(log_prob: float, tokens: int) -> tuple[float, ...]:
    """What the regression sees: the mean log-probability of a token, the length, and the two together."""
    mean, length = log_prob / (tokens + 1), math.log(tokens + 1)  # the end token counts
    return 1.0, mean, length, mean * length


class Confidence:
    """The weights of a model folder; without any, every answer is None."""

    def __init__(self, provenance: Mapping[str, Any]) -> None:
        said = provenance.get(KEY)
        weights = said.get("weights") if isinstance(said, Mapping) else None
        fitting = isinstance(weights, list) and len(weights) == len(features(0.0, 0))
        right = fitting and all(isinstance(one, int | float) and math.isfinite(one) for one in weights or ())
        self._weights: Sequence[float] | None = weights if right else None

    @property
    def known(self) -> bool:
        """Whether the model was calibrated."""
        return self._weights is not None

    def of(self, translation: Translation) -> float | None:
        """The probability for a translation; None where it is not known, or nothing was translated."""
        return self.of_search(translation.log_prob, len(translation.ids))

    def of_search(self, log_prob: float, tokens: int) -> float | None:
        """The same for what a search found, by its log-probability and number of tokens."""
        if self._weights is None or not tokens or not math.isfinite(log_prob):
            return None
        return probability(self._weights, features(log_prob, tokens))


def probability(weights: Sequence[float], given: Sequence[float]) -> float:
    """The logistic function of a weighted sum."""
    total = sum(weight * value for weight, value in zip(weights, given, strict=True))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


class UnsureRemarks:
    """Collects what the model was unsure of, for one remark at the end."""

    SHOWN = 3

    def __init__(self) -> None:
        self._count = self._unsure = 0
        self._first: list[str] = []

    def see(self, name: str, confidence: float | None) -> None:
        """One translation. name: what to call it in the remark."""
        if confidence is None:
            return
        self._count += 1
        if confidence < UNSURE:
            self._unsure += 1
            if len(self._first) < self.SHOWN:
                self._first.append(f"{name} ({confidence:.0%})")

    def remark(self) -> str | None:
        """A sentence, or None where there is nothing to say."""
        if not self._unsure:
            return None
        more = f" and {self._unsure - len(self._first):,} more" if self._unsure > len(self._first) else ""
        return (
            f"{self._unsure:,} of {self._count:,} {'translation is' if self._count == 1 else 'translations are'} "
            f"probably bad; the chance to be good: {', '.join(self._first)}{more}"
        )
