"""How well a masked language model finds words that are hidden from it, word by word.

A word's figure is the sum over its pieces of the negative logarithm of their probabilities, with all pieces of the word
hidden. Every word of a text is hidden once: the words of a row are dealt at random, and always in the same way, into
`PASSES` hands, and each hand is hidden in a pass of its own, so that a word sees six sevenths of its row.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from clearformer.data.masking import Masking
from clearformer.data.token_pairs import TokenIds
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.inference.word_filler import WordFiller

PASSES = 7  # one word in seven is hidden at a time, which is near the usual 15 %
SEED = 20181011


class HiddenWords(NamedTuple):
    """The words of one row."""

    nats: NDArray[np.float64]  # of each word, the sum over its pieces
    right: NDArray[np.bool_]  # whether the likeliest piece was the right one, at all pieces of the word
    pieces: int


class _Look(NamedTuple):
    """A row with some of its words hidden: which row, which places, and the number of the word at each of them."""

    row: int
    places: NDArray[np.int64]
    words: NDArray[np.int64]


def find_hidden(
    filler: WordFiller,
    rows: Sequence[TokenIds],
    *,
    batch: int = 32,
    passes: int = PASSES,
    on_progress: OnProgress = unwatched,
) -> list[HiddenWords]:
    """rows: ids with markers, none longer than the model reads. passes: fewer for a quick look at some of the words."""
    masking = Masking(filler.tokenizer)
    looks = [look for number, row in enumerate(rows) for look in _deal(masking, number, row, passes)]
    looks.sort(key=lambda look: len(rows[look.row]))  # rows of like length together: little padding
    found: list[list[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]]] = [[] for _ in rows]
    for start in range(0, len(looks), batch):
        part = looks[start : start + batch]
        for look, (nats, right) in zip(part, _ask(filler, rows, part), strict=True):
            found[look.row].append((look.words, nats, right))
        on_progress(min(len(looks), start + batch), len(looks))
    return [_by_word(pieces) for pieces in found]


def _deal(masking: Masking, number: int, row: TokenIds, passes: int) -> Iterator[_Look]:
    starts = masking.starts(row) & masking.hideable[row]
    words = np.cumsum(starts) - 1
    places = np.flatnonzero(masking.hideable[row])
    count = int(starts.sum())
    hands = np.random.default_rng([SEED, *row.tolist()]).permutation(count) % PASSES
    for hand in range(passes):
        chosen = places[hands[words[places]] == hand]
        if len(chosen):
            yield _Look(number, chosen, words[chosen])


@torch.inference_mode()
def _ask(
    filler: WordFiller, rows: Sequence[TokenIds], looks: Sequence[_Look]
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.bool_]]]:
    """The figures of the hidden pieces of each row. The states are gathered before the product with the vocabulary."""
    source = filler.rectangle([rows[look.row].tolist() for look in looks])
    shown, at = source.tokens.clone(), torch.zeros_like(source.keep)
    for place, look in enumerate(looks):
        at[place, torch.from_numpy(look.places)] = True
    shown[at] = filler.mask
    states = filler.model.encode(shown, keep=source.keep).states[at]  # type: ignore[operator]
    wanted = source.tokens[at]
    log_probs = filler.model.head(states).float().log_softmax(-1)  # type: ignore[operator]
    nats = -log_probs.gather(-1, wanted[:, None])[:, 0]
    right = log_probs.argmax(dim=-1) == wanted
    ends = np.cumsum([len(look.places) for look in looks])[:-1]
    return zip(np.split(nats.double().cpu().numpy(), ends), np.split(right.cpu().numpy(), ends), strict=True)


def _by_word(pieces: Sequence[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]]) -> HiddenWords:
    if not pieces:
        return HiddenWords(np.empty(0), np.empty(0, dtype=bool), 0)
    words, nats, right = (np.concatenate(column) for column in zip(*pieces, strict=True))
    _, place = np.unique(words, return_inverse=True)
    count = int(place.max()) + 1
    wrong = np.bincount(place, weights=~right, minlength=count)
    sums = np.bincount(place, weights=nats, minlength=count).astype(np.float64)
    return HiddenWords(sums, wrong == 0, len(words))


@torch.inference_mode()
def read_forward(filler: WordFiller, rows: Sequence[TokenIds], *, batch: int = 32) -> tuple[float, int]:
    """The same model read from left to right: nats of all tokens but each row's first, and how many there are."""
    total, count = 0.0, 0
    for start in range(0, len(rows), batch):
        source = filler.rectangle([row.tolist() for row in rows[start : start + batch]])
        causal = torch.ones(len(source.tokens), dtype=torch.bool, device=source.tokens.device)
        states = filler.model.encode(source.tokens, keep=source.keep, causal=causal).states  # type: ignore[operator]
        asked = source.keep[:, 1:]
        log_probs = filler.model.head(states[:, :-1][asked]).float().log_softmax(-1)  # type: ignore[operator]
        total -= float(log_probs.gather(-1, source.tokens[:, 1:][asked][:, None]).sum(dtype=torch.float64))
        count += int(asked.sum())
    return total, count
