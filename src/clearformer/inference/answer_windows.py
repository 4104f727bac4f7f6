"""A question beside its context, in windows that a model can read: the same cut for training and for answering.

The context is cut into pieces once, and windows are runs of those pieces that overlap by half. A passage has therefore
the same pieces in every window, and the offsets are those of the whole context.
"""

from typing import NamedTuple

from clearformer.data.pair_types import pair_types
from clearformer.text.tokenizer import Tokenizer

LEAST_ROOM = 8  # pieces of a context beside the question; with fewer there is nothing to read


class ContextWindow(NamedTuple):
    """One input. Of its ids, `width` from `lead` on are the context's pieces, of which the first has number `begin`."""

    ids: tuple[int, ...]
    types: tuple[int, ...]
    lead: int
    begin: int
    width: int


class AskedWindows(NamedTuple):
    """places: where each piece of the context begins and ends there."""

    places: tuple[tuple[int, int], ...]
    windows: list[ContextWindow]

    def pieces(self, start: int, end: int) -> tuple[int, int] | None:
        """The first and the last piece of a passage, given by its characters; None if no piece touches it."""
        touched = [number for number, (a, b) in enumerate(self.places) if a < b and a < end and b > start]
        return (touched[0], touched[-1]) if touched else None


def cut_windows(
    tokenizer: Tokenizer, question: str, context: str, longest: int, *, overlap: bool = False
) -> AskedWindows:
    """Windows of at most `longest` pieces, markers and question included. overlap: the types tell what both have."""
    pair = tokenizer.encode_pair(question, context)
    types = pair_types(pair, overlap=overlap, markers=list(tokenizer.special_ids.values()))
    count = sum(pair.second)
    room = longest - (len(pair.ids) - count)
    if room < min(LEAST_ROOM, max(1, count)):
        raise ValueError("the question leaves no room for a context; shorten it")
    lead = pair.second.index(True) if count else len(pair.ids)
    after = lead + count
    starts = [0] if count <= room else range(0, count - room // 2, room // 2)
    windows = []
    for start in starts:
        taken = slice(lead + start, min(lead + start + room, after))
        windows.append(
            ContextWindow(
                ids=(*pair.ids[:lead], *pair.ids[taken], *pair.ids[after:]),
                types=(*types[:lead], *types[taken], *types[after:]),
                lead=lead,
                begin=start,
                width=taken.stop - taken.start,
            )
        )
    return AskedWindows(pair.offsets[lead:after], windows)
