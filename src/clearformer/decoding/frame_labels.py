"""Connectionist temporal classification (Graves et al., 2006): from a label for each frame to a text.

Each frame says one token or nothing (the blank). A text is what is left when repeats are joined and blanks are taken
away, so many paths of labels are the same text. T frames, V vocabulary, the blank included.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LogProbs = NDArray[np.floating[Any]]  # T V
LEAST = math.log(1e-5)  # a token that is less probable in a frame begins no prefix there


class Spelled(NamedTuple):
    """A text as tokens, and the logarithm of its probability: of its best path, or of all its paths."""

    tokens: tuple[int, ...]
    log_prob: float


def best_path(log_probs: LogProbs, blank: int) -> Spelled:
    """The likeliest label of each frame, joined: quick, and exact where the model is sure."""
    labels = log_probs.argmax(axis=1)
    total = float(log_probs.max(axis=1).sum())
    changes = np.flatnonzero(np.diff(labels, prepend=-1))
    return Spelled(tuple(int(label) for label in labels[changes] if label != blank), total)


def prefix_beam(log_probs: LogProbs, blank: int, width: int, *, least: float = LEAST) -> Spelled:
    """The likeliest text among those that a beam of prefixes keeps, each with the sum over all of its paths.

    A prefix has two scores, of the paths that end in a blank and of those that end in its last token: only behind a
    blank does the same token begin anew.
    """
    beam: dict[tuple[int, ...], tuple[float, float]] = {(): (0.0, -math.inf)}
    for frame in log_probs:
        offered = [int(token) for token in np.flatnonzero(frame >= min(least, float(frame.max())))]
        grown: dict[tuple[int, ...], tuple[float, float]] = {}
        for prefix, (quiet, spoken) in beam.items():
            both = _add(quiet, spoken)
            _put(grown, prefix, both + float(frame[blank]), -math.inf)
            if prefix:
                _put(grown, prefix, -math.inf, spoken + float(frame[prefix[-1]]))
            for token in offered:
                if token != blank:
                    before = quiet if prefix and token == prefix[-1] else both
                    _put(grown, (*prefix, token), -math.inf, before + float(frame[token]))
        ranked = sorted(grown.items(), key=lambda one: (-_add(*one[1]), one[0]))
        beam = dict(ranked[:width])
    tokens, scores = next(iter(beam.items()))
    return Spelled(tokens, _add(*scores))


def _put(beam: dict[tuple[int, ...], tuple[float, float]], prefix: tuple[int, ...], quiet: float, said: float) -> None:
    old = beam.get(prefix, (-math.inf, -math.inf))
    beam[prefix] = _add(old[0], quiet), _add(old[1], said)


def _add(one: float, other: float) -> float:
    """The logarithm of a sum of probabilities."""
    high, low = max(one, other), min(one, other)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))


def align(log_probs: LogProbs, tokens: Sequence[int], blank: int) -> list[tuple[int, int]]:
    """The frames of each token, first and last, on the likeliest path that spells them (Viterbi).

    Raises ValueError where there are too few frames to say all of them.
    """
    if not tokens:
        return []
    labels = [blank, *(label for token in tokens for label in (token, blank))]
    count = len(labels)
    skips = [place > 1 and labels[place] not in (blank, labels[place - 2]) for place in range(count)]
    score = np.full(count, -np.inf)
    score[:2] = log_probs[0, labels[:2]]
    steps = np.zeros((len(log_probs), count), dtype=np.int8)  # how far back the path came from
    for frame in range(1, len(log_probs)):
        one = np.concatenate(([-np.inf], score[:-1]))
        two = np.where(skips, np.concatenate(([-np.inf, -np.inf], score[:-2])), -np.inf)
        ways = np.stack((score, one, two))
        steps[frame] = ways.argmax(axis=0)
        score = ways.max(axis=0) + log_probs[frame, labels]
    place = count - 1 if score[-1] >= score[-2] else count - 2
    if score[place] == -np.inf:
        raise ValueError(f"{len(log_probs)} frames are too few for {len(tokens)} tokens")
    spans: list[list[int]] = [[] for _ in tokens]
    for frame in range(len(log_probs) - 1, -1, -1):
        if place % 2:
            spans[place // 2].append(frame)
        place -= int(steps[frame, place])
    return [(span[-1], span[0]) for span in spans]
