"""Which target tokens a source token may become: a short list to choose from instead of the whole vocabulary.

Scoring every token of the vocabulary at every step is a large part of a small model's work, and nearly all of it is for
tokens that no word of this sentence was ever translated to. Which were is learned from the training pairs by IBM's
first model (Brown et al., 1993): each target token comes from one of the source tokens, and expectation and
maximisation in turn say from which.

CTranslate2 joins the lists of all sentences of a batch, so with a shortlist a sentence's company may add choices to it:
the one place where a translation can depend on its batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROUNDS = 5
MOST_LENGTH = 100  # longer sentences say little about words and cost their square
MOST_LINKS = 50_000_000  # pairs of tokens that are kept in memory: about 1.5 GB


@dataclass(frozen=True, kw_only=True)
class Shortlist:
    """The likeliest targets of each source token, and those that every sentence may use."""

    targets: dict[int, tuple[int, ...]]
    always: tuple[int, ...]

    def write(self, path: Path, source_names: Sequence[str], target_names: Sequence[str]) -> None:
        """As CTranslate2 reads it: a source token, a tab, its targets with spaces between. No source: for all."""
        lines = ["\t" + " ".join(target_names[number] for number in self.always)]
        for source, targets in sorted(self.targets.items()):
            lines.append(source_names[source] + "\t" + " ".join(target_names[number] for number in targets))
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def learn(
    sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], *, best: int = 50, frequent: int = 100
) -> Shortlist:
    """From pairs of sentences, as ids. best: targets kept for a source; frequent: targets that everybody may use."""
    if len(sources) != len(targets) or not sources:
        raise ValueError(f"{len(sources)} sources and {len(targets)} targets: give as many, and at least one")
    links = _links(sources, targets)
    weights = _translation_weights(*links)
    source, target, _ = links
    counts = np.bincount([token for row in targets for token in row])
    common = np.argsort(-counts, kind="stable")[: min(frequent, int((counts > 0).sum()))]
    return Shortlist(targets=_best(source, target, weights, best), always=tuple(sorted(map(int, common))))


Numbers = NDArray[np.int64]


def _links(sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> tuple[Numbers, Numbers, Numbers]:
    """Every source token with every target token of its sentence: which, with which, and at which place in all text."""
    parts: list[tuple[Numbers, Numbers, Numbers]] = []
    place = total = 0
    for source, target in zip(sources, targets, strict=True):
        if not 0 < len(source) <= MOST_LENGTH or not 0 < len(target) <= MOST_LENGTH:
            continue
        total += len(source) * len(target)
        if total > MOST_LINKS:  # enough has been seen: a shortlist is about frequent words
            break
        where = np.arange(place, place + len(target))
        parts.append((np.repeat(source, len(target)), np.tile(target, len(source)), np.tile(where, len(source))))
        place += len(target)
    if not parts:
        raise ValueError(f"no pair has between 1 and {MOST_LENGTH} tokens on both sides, so nothing can be learned")
    joined = [np.concatenate([part[side] for part in parts]).astype(np.int64) for side in range(3)]
    return joined[0], joined[1], joined[2]


def _translation_weights(source: Numbers, target: Numbers, place: Numbers) -> NDArray[np.float64]:
    """For each link, how often its source is thought to become its target: p(target | source)."""
    pairs, link_pair = np.unique(source * (int(target.max()) + 1) + target, return_inverse=True)
    pair_source = pairs // (int(target.max()) + 1)
    chance = np.ones(len(pairs))
    for _ in range(ROUNDS):
        by_link = chance[link_pair]
        share = by_link / np.bincount(place, by_link)[place]  # of this target token, by its possible origins
        counted = np.bincount(link_pair, share, minlength=len(pairs))
        chance = counted / np.bincount(pair_source, counted)[pair_source]
    result: NDArray[np.float64] = chance[link_pair]
    return result


def _best(source: Numbers, target: Numbers, weights: NDArray[np.float64], most: int) -> dict[int, tuple[int, ...]]:
    """The likeliest targets of each source, likeliest first."""
    order = np.lexsort((target, -weights, source))
    kept: dict[int, dict[int, None]] = {}
    for link in order:
        found = kept.setdefault(int(source[link]), {})
        if len(found) < most:
            found[int(target[link])] = None
    return {token: tuple(found) for token, found in kept.items()}
