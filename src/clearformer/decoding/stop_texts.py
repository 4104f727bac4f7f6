"""Where a text stops that must not contain certain texts, while it is still being written."""

from collections.abc import Sequence


def find_stop(text: str, stops: Sequence[str], start: int = 0) -> int | None:
    """Where the first stop text begins, or None. start: nothing before this place needs a look."""
    places = [place for stop in stops if (place := text.find(stop, start)) >= 0]
    return min(places, default=None)


def held_back(text: str, stops: Sequence[str]) -> int:
    """How many characters at the end may turn out to be the beginning of a stop text."""
    longest = max(map(len, stops), default=0)
    for count in range(min(longest - 1, len(text)), 0, -1):
        end = text[-count:]
        if any(len(stop) > count and stop.startswith(end) for stop in stops):
            return count
    return 0
