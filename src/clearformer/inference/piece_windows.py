"""A text that is longer than a model reads, as overlapping windows."""

from collections.abc import Sequence

from clearformer.data.word_pieces import markers
from clearformer.text.tokenizer import MAX_CHARACTERS, Tokenizer


def piece_windows(tokenizer: Tokenizer, pieces: Sequence[int], longest: int) -> list[list[int]]:
    """The pieces of a text with markers around them, or of its parts where they are more than `longest` tokens.

    pieces: without markers. Each part begins in the middle of the one before, so that whatever is said at an edge
    stands well inside another part.
    """
    before, after = markers(tokenizer)
    room = max(1, longest - len(before) - len(after))
    if len(pieces) <= room:
        return [[*before, *pieces, *after]]
    step = max(1, room // 2)
    starts = range(0, len(pieces) - room + step, step)
    return [[*before, *pieces[start : start + room], *after] for start in starts]


def all_pieces(tokenizer: Tokenizer, text: str) -> list[int]:
    """The pieces of a text of any length, without markers.

    What a tokenizer does not take at once is cut at white space, where no vocabulary joins two words.
    """
    found: list[int] = []
    while len(text) > MAX_CHARACTERS:
        cut = max(text.rfind(blank, 1, MAX_CHARACTERS) for blank in " \n\t")
        cut = cut if cut > 0 else MAX_CHARACTERS
        found += tokenizer.ids([text[:cut]], add_special=False)[0]
        text = text[cut:]
    return found + tokenizer.ids([text], add_special=False)[0]
