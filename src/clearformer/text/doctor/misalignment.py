"""Two parallel files of unequal length: where do they become misaligned?

A translation is about as long as its source. Suppose that up to some line k both files are aligned, and from k on one
of them is d lines behind. For the right k the lengths on both sides agree best; for any other k, unrelated lines are
compared. One pass over the lengths finds the best k.
"""

import math
from collections.abc import Sequence

# Two lines whose lengths differ by more than this factor are unrelated; by how much more does not matter.
_STRANGERS = math.log(3.0)


def first_suspicious_line(source: Sequence[int], target: Sequence[int]) -> int:
    """The line (from 1) at which the longer file most likely has a line that the other lacks."""
    longer, shorter = (source, target) if len(source) >= len(target) else (target, source)
    gap = len(longer) - len(shorter)
    usual = _usual_ratio(longer, shorter)
    gain, best_gain, best = 0.0, 0.0, 0
    for line, length in enumerate(shorter):
        # How much better this line fits the line of its own number than the one `gap` further on.
        gain += _strangeness(longer[line + gap], length, usual) - _strangeness(longer[line], length, usual)
        if gain >= best_gain:
            best_gain, best = gain, line + 1
    return best + 1


def _usual_ratio(longer: Sequence[int], shorter: Sequence[int]) -> float:
    """A zh–en pair is not 1 : 1; the totals give its ratio, closely enough."""
    return math.log((sum(longer) + 1) / (sum(shorter) + 1) * len(shorter) / max(1, len(longer)) + 1e-9)


def _strangeness(longer: int, shorter: int, usual: float) -> float:
    return min(_STRANGERS, abs(math.log((longer + 1) / (shorter + 1)) - usual))
