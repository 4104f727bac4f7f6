"""Damage a text so that a model learns to repair it: BART's noise (Lewis et al., 2019) and T5's (Raffel et al., 2020).

Infilling: spans whose lengths follow Poisson's law become one mask each, also spans of length zero; tokens may be
deleted, and sentences may change places. The model writes the whole text. Span corruption: each span becomes a sentinel
of its own, and the model writes the spans alone, behind their sentinels. What is drawn comes from a generator that
whoever calls makes from the seed and the place in the run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from clearformer.data.token_pairs import TokenIds
from clearformer.text.tokenizer import Tokenizer

Ids = NDArray[np.int64]
SENTINEL = "<extra_id_{}>"  # as T5 spells them
ENDS = (".", "!", "?", "…", "。", "！", "？")


@dataclass(frozen=True, kw_only=True)
class CorruptionConfig:
    """How a text is damaged."""

    kind: Literal["infilling", "span-corruption"] = "infilling"  # BART's: write all; T5's: write what is missing
    rate: float = 0.3  # share of the tokens that are hidden; BART 0.3, T5 0.15
    mean_span: float = 3.0  # tokens of a hidden span on average
    delete: float = 0.0  # infilling: share of the tokens that are taken out without a trace
    permute: bool = False  # infilling: sentences stand in another order

    def __post_init__(self) -> None:
        for name, least in (("rate", 0.01), ("delete", 0.0)):
            if not least <= getattr(self, name) <= 0.9:
                raise ValueError(
                    f"data.corruption.{name} is a share between {least:g} and 0.9, not {getattr(self, name)}"
                )
        if not 1 <= self.mean_span <= 100:
            raise ValueError(f"data.corruption.mean_span is between 1 and 100 tokens, not {self.mean_span}")
        if self.kind == "span-corruption" and (self.delete or self.permute):
            raise ValueError("data.corruption.delete and permute belong to infilling; leave them out")

    def sentinels(self, length: int) -> int:
        """How many different sentinels a text of so many tokens needs: one for each span, and one for the end."""
        return self.spans(length) + 1 if self.kind == "span-corruption" else 0

    def hidden(self, length: int) -> int:
        """How many tokens are hidden: at least one, and not all if there are two."""
        return min(max(1, round(self.rate * length)), max(1, length - 1))

    def spans(self, length: int) -> int:
        """Span corruption: in how many spans; between two of them a token stays."""
        hidden = self.hidden(length)
        return max(1, min(round(hidden / self.mean_span), hidden, length - hidden))

    def lengths(self, length: int) -> tuple[int, int]:
        """The most tokens that are read, and that are written, of a text of so many."""
        if self.kind == "infilling":
            return length + 1, length
        return length - self.hidden(length) + self.spans(length), self.hidden(length) + self.spans(length) + 1


class Corruption:
    """Damages the ids of one vocabulary."""

    def __init__(self, tokenizer: Tokenizer, config: CorruptionConfig) -> None:
        self.config = config
        self.mask = tokenizer.special_ids.get("mask", -1)
        self.sentinels: Ids = sentinel_ids(tokenizer)
        self.ends = sentence_ends(tokenizer) if config.permute else np.zeros(0, dtype=bool)

    def __call__(self, ids: TokenIds, random: np.random.Generator) -> tuple[Ids, Ids]:
        """What the model reads and what it writes."""
        whole = np.asarray(ids, dtype=np.int64)
        if self.config.kind == "span-corruption":
            spans = random_spans(self.config.hidden(len(whole)), self.config.spans(len(whole)), len(whole), random)
            return replace_spans(whole, spans, self.sentinels)
        moved = permute_sentences(whole, self.ends[whole], random) if self.config.permute else whole
        left = delete_tokens(moved, self.config.delete, random) if self.config.delete else moved
        return infill(left, self.mask, rate=self.config.rate, mean=self.config.mean_span, random=random), whole


def infill(ids: Ids, mask: int, *, rate: float, mean: float, random: np.random.Generator) -> Ids:
    """The text with one mask in place of each span. Together the spans have a share `rate` of the tokens."""
    hidden = min(round(rate * len(ids)), len(ids))
    lengths: list[int] = []
    while sum(lengths) < hidden:
        lengths.append(min(int(random.poisson(mean)), hidden - sum(lengths)))
    for _ in range(len(lengths) - hidden - 1):  # masks that hide nothing must not make the text longer
        lengths.remove(0)
    stay = len(ids) - hidden
    if len(lengths) > stay + 1:  # a long span more rather than two masks side by side
        lengths = [*lengths[:stay], sum(lengths[stay:])]
    # The spans stand between the tokens that stay: behind so many of them each, no two at the same place.
    places = np.sort(random.permutation(stay + 1)[: len(lengths)])
    parts: list[Ids] = []
    read = before = 0
    for place, length in zip(places.tolist(), random.permutation(lengths).tolist(), strict=True):
        parts += [ids[read : read + place - before], np.array([mask])]
        read += place - before + length
        before = place
    return np.concatenate([*parts, ids[read:]])


def delete_tokens(ids: Ids, share: float, random: np.random.Generator) -> Ids:
    """Each token goes with this chance; if all would, the first stays."""
    stays = random.random(len(ids)) >= share
    return ids[stays] if stays.any() else ids[:1]


def permute_sentences(ids: Ids, ends: NDArray[np.bool_], random: np.random.Generator) -> Ids:
    """The sentences in another order. ends: True at the last token of a sentence."""
    sentences = [part for part in np.split(ids, np.flatnonzero(ends) + 1) if len(part)]
    return np.concatenate([sentences[place] for place in random.permutation(len(sentences))]) if sentences else ids


def random_spans(hidden: int, spans: int, length: int, random: np.random.Generator) -> list[tuple[int, int]]:
    """So many spans of a text, begin and end, which together have `hidden` tokens; between two of them a token stays.

    T5's own program hides the end of every text; here the spans may stand anywhere.
    """
    gone = _partition(hidden, spans, random)
    first, *between, _ = _partition(length - hidden + 2, spans + 1, random)  # before and behind all, there may be none
    found = []
    place = 0
    for before, size in zip([first - 1, *between], gone, strict=True):
        found.append((place + before, place + before + size))
        place += before + size
    return found


def _partition(total: int, parts: int, random: np.random.Generator) -> list[int]:
    """A whole number as a sum of so many, each at least one, all sums alike probable."""
    cuts = np.sort(random.permutation(total - 1)[: parts - 1]) + 1
    return [int(size) for size in np.diff([0, *cuts.tolist(), total])]


def replace_spans(ids: Ids, spans: Sequence[tuple[int, int]], sentinels: Ids) -> tuple[Ids, Ids]:
    """The text with a sentinel in place of each span, and the spans, each behind its sentinel; one more ends them."""
    if len(spans) >= len(sentinels):
        raise ValueError(f"{len(spans)} spans need {len(spans) + 1} sentinels, and there are {len(sentinels)}")
    read: list[Ids] = []
    written: list[Ids] = []
    place = 0
    for number, (begin, end) in enumerate(spans):
        read += [ids[place:begin], sentinels[number : number + 1]]
        written += [sentinels[number : number + 1], ids[begin:end]]
        place = end
    return np.concatenate([*read, ids[place:]]), np.concatenate([*written, sentinels[len(spans) : len(spans) + 1]])


def put_back(read: Sequence[int], written: Sequence[int], sentinels: Ids) -> list[int]:
    """The inverse of `replace_spans`, as far as what was written makes sense: a span that is missing is empty."""
    known = {int(one) for one in sentinels}
    spans: dict[int, list[int]] = {}
    now: list[int] = []
    for one in written:
        if one in known:
            now = spans.setdefault(one, [])
        else:
            now.append(one)
    return [token for one in read for token in (spans.get(one, []) if one in known else [one])]


def sentinel_ids(tokenizer: Tokenizer) -> Ids:
    """Of a vocabulary that has sentinels, in order."""
    found: list[int] = []
    try:
        while True:
            found.append(tokenizer.id(SENTINEL.format(len(found))))
    except KeyError:
        return np.array(found, dtype=np.int64)


def sentence_ends(tokenizer: Tokenizer) -> NDArray[np.bool_]:
    """Which pieces end a sentence, by their last sign."""
    ends = np.zeros(tokenizer.vocab_size, dtype=bool)
    for number in range(tokenizer.vocab_size):
        try:
            ends[number] = tokenizer.piece(number).rstrip("\"'”’)").endswith(ENDS)
        except KeyError:  # an id that no piece has
            continue
    return ends
