"""A line of numbers as a line of text."""

from collections.abc import Sequence

LEVELS = "▁▂▃▄▅▆▇█"
WIDEST = 40


def sparkline(values: Sequence[float]) -> str:
    """The smallest is the lowest block, the largest the highest; long lines are thinned out."""
    step = max(1, -(-len(values) // WIDEST))
    shown = list(values)[::step]
    low, high = min(shown), max(shown)
    if high - low <= 1e-12 * max(abs(low), abs(high), 1e-300):
        return LEVELS[3] * len(shown)
    return "".join(LEVELS[round((value - low) / (high - low) * (len(LEVELS) - 1))] for value in shown)
