"""Rankings, and two ways to make one of two.

By scores: the mean of a document's cosine with the query and of the share of the query's words that BM25 finds in it
(`Postings.share`). Both lie between 0 and 1, for any query and any number of documents, so they can be added.

By ranks: reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009), which needs no common measure,

    score(d) = sum over the rankings:  1 / (k + rank of d)

with k = 60, as in the paper. It forgets how far apart two neighbours are, and finds less: docs/results/search.md.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

K = 60

Scores = NDArray[np.floating]


def rank(scores: Scores) -> NDArray[np.int64]:
    """The numbers of documents from the best score to the worst; among equals, the earlier document is first."""
    return np.argsort(-scores, kind="stable")


def fuse_scores(cosine: Scores, share: Scores) -> Scores:
    """The mean of meaning and words. N."""
    return (cosine + share) / 2


def fuse_ranks(rankings: Sequence[NDArray[np.int64]], count: int) -> NDArray[np.float64]:
    """The score of each of `count` documents. A document that a ranking does not have gets nothing from it."""
    made = np.zeros(count)
    for ranking in rankings:
        made[ranking] += 1 / (K + np.arange(1, len(ranking) + 1))
    return made
