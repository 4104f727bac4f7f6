"""A word aligner without a network, to hold attention against: IBM model 2 with a prior for the diagonal.

Each target word is said by one source word, or by none; which one depends on a table of word pairs, learned by
expectation and maximisation, and on how near both stand to the diagonal (Brown et al., 1993; Dyer et al., 2013).
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

Links = set[tuple[int, int]]  # source word, target word, both counted from 0
Pair = tuple[Sequence[str], Sequence[str]]
STEEP, NOBODY, FLOOR = 4.0, 0.08, 1e-7  # of the prior; the share of words that nobody says; of pairs never seen


class WordAligner:
    """Learns from pairs of sentences, and links words of others."""

    def __init__(self, pairs: Sequence[Pair], rounds: int = 5) -> None:
        self.table: dict[str, dict[str, float]] = {}
        for _ in range(rounds):
            counts: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
            for source, target in pairs:
                for place, word in enumerate(target):
                    shares = self._shares(source, word, place, len(target))
                    total = sum(shares)
                    for said_by, share in zip([*source, ""], shares, strict=True):
                        counts[said_by][word] += share / total
            self.table = {
                said_by: {word: count / sum(row.values()) for word, count in row.items()}
                for said_by, row in counts.items()
            }

    def _shares(self, source: Sequence[str], word: str, place: int, length: int) -> list[float]:
        """How likely each source word says this one; the last share is nobody's."""
        prior = _diagonal(len(source), place, length)
        said = [self.table.get(one, {}).get(word, FLOOR) if self.table else 1.0 for one in (*source, "")]
        return [(1 - NOBODY) * near * one for near, one in zip(prior, said[:-1], strict=True)] + [NOBODY * said[-1]]

    def links(self, source: Sequence[str], target: Sequence[str]) -> Links:
        """The likeliest source word of each target word."""
        found: Links = set()
        for place, word in enumerate(target):
            shares = self._shares(source, word, place, len(target))
            best = max(range(len(shares)), key=shares.__getitem__)
            if best < len(source):
                found.add((best, place))
        return found


@lru_cache(maxsize=100_000)
def _diagonal(count: int, place: int, length: int) -> tuple[float, ...]:
    near = [math.exp(-STEEP * abs((row + 0.5) / count - (place + 0.5) / length)) for row in range(count)]
    total = sum(near)
    return tuple(one / total for one in near)


def diagonal_links(source: Sequence[str], target: Sequence[str]) -> Links:
    """Who knows nothing of words links places."""
    return {((2 * place + 1) * len(source) // (2 * len(target)), place) for place in range(len(target))}


def alignment_error(found: Sequence[Links], sure: Sequence[Links], possible: Sequence[Links] | None = None) -> float:
    """The alignment error rate (Och and Ney, 2003). possible: links that are neither asked for nor counted as wrong;
    without any, it is one minus the F-score."""
    right = allowed = made = wanted = 0
    for mine, theirs, also in zip(found, sure, possible or [set()] * len(sure), strict=True):
        right, allowed = right + len(mine & theirs), allowed + len(mine & (theirs | also))
        made, wanted = made + len(mine), wanted + len(theirs)
    return 1 - (right + allowed) / (made + wanted)
