"""Rankings, and two of them as one: reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009).

    score(d) = sum over the rankings:  1 / (k + rank of d)

Only ranks count, so that a cosine and a BM25 score, which have no common measure, can be laid together. k = 60, as in
the paper: it keeps the first places of one ranking from deciding alone.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

K = 60


def rank(scores: NDArray[np.floating]) -> NDArray[np.int64]:
    """The numbers of documents from the best score to the worst; among equals, the earlier document is first."""
    return np.argsort(-scores, kind="stable")


def fuse(rankings: Sequence[NDArray[np.int64]], count: int) -> NDArray[np.float64]:
    """The score of each of `count` documents. A document that a ranking does not have gets nothing from it."""
    made = np.zeros(count)
    for ranking in rankings:
        made[ranking] += 1 / (K + np.arange(1, len(ranking) + 1))
    return made
