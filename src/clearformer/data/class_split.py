"""Hold labelled examples out by class, so that each part has the same mixture and no text is in two parts."""

from collections import defaultdict
from collections.abc import Hashable, Sequence

import numpy as np


def hold_out_by_class(keys: Sequence[Hashable], labels: Sequence[str], *, share: float, seed: int = 1) -> list[bool]:
    """Which examples are held out: about `share` of each class; equal keys stay together."""
    first: dict[Hashable, int] = {}
    for place, key in enumerate(keys):
        first.setdefault(key, place)
    by_class: dict[str, list[int]] = defaultdict(list)
    for place in first.values():
        by_class[labels[place]].append(place)
    held: set[int] = set()
    draw = np.random.default_rng(seed)
    for label in sorted(by_class):
        places = by_class[label]
        count = min(len(places) - 1, max(1, round(share * len(places)))) if len(places) > 1 else 0
        held.update(places[number] for number in draw.permutation(len(places))[:count])
    return [first[key] in held for key in keys]
