"""What was written for one piece of a recording, and its words, put together from tokens with their times."""

from collections.abc import Sequence
from dataclasses import dataclass

from clearformer.inference.transcript import SpokenWord, moment
from clearformer.text.tokenizer import Tokenizer


@dataclass(frozen=True, kw_only=True)
class WrittenPiece:
    """A text, how probable it is, and its words with seconds from the piece's beginning, where they are known.

    tokens, prompt, spans: as a `HeardPiece` has them.
    """

    text: str
    log_prob: float
    words: tuple[SpokenWord, ...] = ()
    tokens: tuple[int, ...] = ()
    prompt: tuple[int, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()


def words_of(
    tokenizer: Tokenizer, tokens: Sequence[int], starts: Sequence[float], ends: Sequence[float]
) -> tuple[SpokenWord, ...]:
    """The words that tokens spell, each from the start of its first token to the end of its last.

    Where a word begins is seen in the decoded text: a token that adds a space to it begins one (the space may be half
    of a longer token). Texts without spaces are one word.
    """
    found: list[SpokenWord] = []
    begun, before = 0, ""
    for place in range(1, len(tokens) + 1):
        text = tokenizer.decode(tokens[:place])
        added = text[len(before) :] if text.startswith(before) else text
        fresh = place > 1 and bool(before.strip()) and (added[:1].isspace() or before[-1:].isspace())
        if fresh and added.strip():
            _close(found, tokenizer, tokens, begun, place - 1, starts, ends)
            begun = place - 1
        before = text
    if len(tokens) > begun:
        _close(found, tokenizer, tokens, begun, len(tokens), starts, ends)
    return tuple(found)


def _close(
    found: list[SpokenWord],
    tokenizer: Tokenizer,
    tokens: Sequence[int],
    first: int,
    stop: int,
    starts: Sequence[float],
    ends: Sequence[float],
) -> None:
    """Add the word that these tokens spell, if they spell any."""
    if text := tokenizer.decode(tokens[first:stop]).strip():
        found.append(SpokenWord(start=moment(starts[first]), end=moment(ends[stop - 1]), text=text))
