"""Byte-pair encoding, written out merge by merge (Sennrich et al., 2016).

The library that the package uses does the same a thousand times faster (`text/train_tokenizer.py`); tests compare
both.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

Pair = tuple[str, str]


def learn_merges(words: Mapping[str, int], count: int) -> list[Pair]:
    """The pairs that are merged, in order. words: how often each occurs.

    Every word begins as its letters; the pair that occurs most often becomes one piece, everywhere, and so on. Ties go
    to the pair whose pieces were there first: letters in alphabetical order, then merged pieces in theirs.
    """
    split = {word: list(word) for word in words}
    number = {letter: place for place, letter in enumerate(sorted({letter for word in words for letter in word}))}
    merges: list[Pair] = []
    for _ in range(count):
        pairs = count_pairs(split, words)
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], number[pair[0]], number[pair[1]]))
        merges.append(best)
        number.setdefault("".join(best), len(number))
        split = {word: merge(parts, best) for word, parts in split.items()}
    return merges


def count_pairs(split: Mapping[str, Sequence[str]], words: Mapping[str, int]) -> Counter[Pair]:
    """How often each pair of neighbours occurs."""
    pairs: Counter[Pair] = Counter()
    for word, parts in split.items():
        for pair in pairwise(parts):
            pairs[pair] += words[word]
    return pairs


def merge(parts: Sequence[str], pair: Pair) -> list[str]:
    """Merge a pair wherever it stands, from left to right."""
    merged: list[str] = []
    place = 0
    while place < len(parts):
        if tuple(parts[place : place + 2]) == pair:
            merged.append("".join(pair))
            place += 2
        else:
            merged.append(parts[place])
            place += 1
    return merged


def encode_word(word: str, merges: Sequence[Pair]) -> list[str]:
    """A word's pieces: of the pairs that it has, the one that was learned first is merged, until none is left."""
    rank = {pair: place for place, pair in enumerate(merges)}
    parts = list(word)
    while pairs := [pair for pair in pairwise(parts) if pair in rank]:
        parts = merge(parts, min(pairs, key=rank.__getitem__))
    return parts
