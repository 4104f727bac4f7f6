"""The best legal sequence of tags, and how probable an entity is among all legal sequences.

A network says for each word how probable each tag is, as if words did not know of one another. Among the sequences that
the notation allows (no I-PER after O), the best is found by Viterbi's algorithm, and sums over all of them by the
forward and backward recursions of the same shape.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clearformer.data.entity_tags import Span, continues, may_follow, spans

Scores = NDArray[np.float64]


class LegalTags:
    """The labels of a model, and which of them may follow which. All scores are logarithms. W words, L labels."""

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = tuple(labels)
        with np.errstate(divide="ignore"):  # the logarithm of what is not allowed is minus infinity, and meant
            self._steps, self._first, self._last = (np.log(legal.astype(np.float64)) for legal in may_follow(labels))

    def best(self, scores: Scores) -> list[int]:
        """The legal sequence with the highest sum. scores: W L."""
        if not len(scores):
            return []
        reached = self._first + scores[0]
        came: list[NDArray[np.int64]] = []
        for row in scores[1:]:
            ways = reached[:, None] + self._steps  # before, after
            came.append(ways.argmax(axis=0))
            reached = ways.max(axis=0) + row
        path = [int((reached + self._last).argmax())]
        for back in reversed(came):
            path.append(int(back[path[-1]]))
        return path[::-1]

    def entities(self, scores: Scores, path: Sequence[int]) -> list[tuple[Span, float]]:
        """The entities of a sequence, each with the probability, among all legal sequences, of those that have it."""
        before, after = self._sums(scores)
        total = _log_sum(before[-1] + after[-1]) if len(scores) else 0.0
        found = []
        for span in spans([self.labels[number] for number in path]):
            inner = path[span.start : span.end]
            first, last = span.start, span.end - 1
            log = before[first, inner[0]] + scores[first + 1 : span.end][range(len(inner) - 1), inner[1:]].sum()
            found.append((span, float(np.exp(log + self._ends(scores, after, last, inner[-1]) - total))))
        return found

    def _ends(self, scores: Scores, after: Scores, last: int, tag: int) -> float:
        """The sum over what may come after an entity's last word without going on with the entity."""
        if last + 1 == len(scores):
            return float(self._last[tag])
        new = np.array([not continues(self.labels[tag], label) for label in self.labels])
        return _log_sum(np.where(new, self._steps[tag] + scores[last + 1] + after[last + 1], -np.inf))

    def _sums(self, scores: Scores) -> tuple[Scores, Scores]:
        """For each word and tag: of the beginnings that end there, and of what may follow. Both W L."""
        before, after = np.empty_like(scores), np.empty_like(scores)
        for place, row in enumerate(scores):
            reached = self._first if place == 0 else _log_sums(before[place - 1][:, None] + self._steps, axis=0)
            before[place] = reached + row
        for place in reversed(range(len(scores))):
            if place + 1 == len(scores):
                after[place] = self._last
            else:
                after[place] = _log_sums(self._steps + scores[place + 1] + after[place + 1], axis=1)
        return before, after


def _log_sums(values: Scores, axis: int) -> Scores:
    result: Scores = np.logaddexp.reduce(values, axis=axis)
    return result


def _log_sum(values: Scores) -> float:
    return float(np.logaddexp.reduce(values))
