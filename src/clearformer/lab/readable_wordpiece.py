"""WordPiece, written out: learn by the likeliest join, split by the longest match.

A word's first piece is written as it is, and every further one with ## before it (Schuster and Nakajima, 2012;
Devlin et al., 2018). To compare: `readable_bpe.py`, which joins the most frequent pair.
"""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from itertools import pairwise

CONTINUES = "##"
UNKNOWN = "[UNK]"


def letters_of(word: str) -> list[str]:
    """A word in single letters: play -> p ##l ##a ##y."""
    return [letter if place == 0 else CONTINUES + letter for place, letter in enumerate(word)]


def join(left: str, right: str) -> str:
    """Two pieces as one: pl + ##ay -> play."""
    return left + right.removeprefix(CONTINUES)


def learn_joins(words: Mapping[str, int], count: int) -> list[tuple[str, str]]:
    """The pairs that are joined, in order. words: how often each occurs.

    A pair's score is how much more often it occurs than its parts by chance, count(ab) ÷ (count(a) · count(b)); that is
    the join that makes the text likelier than any other. Ties go to the pair that is first in the alphabet.
    """
    split = {word: letters_of(word) for word in words}
    joins = []
    for _ in range(count):
        pieces: Counter[str] = Counter()
        pairs: Counter[tuple[str, str]] = Counter()
        for word, often in words.items():
            for piece in split[word]:
                pieces[piece] += often
            for pair in pairwise(split[word]):
                pairs[pair] += often
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair] / (pieces[pair[0]] * pieces[pair[1]]), pair))
        joins.append(best)
        split = {word: join_everywhere(parts, best) for word, parts in split.items()}
    return joins


def join_everywhere(parts: Sequence[str], pair: tuple[str, str]) -> list[str]:
    """Join a pair wherever it stands in a word, from left to right."""
    joined: list[str] = []
    place = 0
    while place < len(parts):
        if tuple(parts[place : place + 2]) == pair:
            joined.append(join(*pair))
            place += 2
        else:
            joined.append(parts[place])
            place += 1
    return joined


def split_word(word: str, vocabulary: Container[str]) -> list[str]:
    """The longest piece that fits, again and again; a word that cannot be spelled is unknown as a whole."""
    pieces: list[str] = []
    start = 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = word[start:end] if start == 0 else CONTINUES + word[start:end]
            if piece in vocabulary:
                pieces.append(piece)
                start = end
                break
        else:
            return [UNKNOWN]
    return pieces
