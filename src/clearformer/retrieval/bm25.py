"""Search by words: BM25 (Robertson et al., 1994) as Lucene computes it.

    score(q, d) = sum over the terms t of q:  idf(t) · f / (f + k1 · (1 - b + b · |d| / mean |d|))
    idf(t) = ln(1 + (N - n + 0.5) / (n + 0.5))

f: how often t occurs in d; n: in how many of the N documents it occurs; k1 = 1.2 and b = 0.75 are Lucene's. Lucene
rounds lengths to one byte; here they are exact.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

K1 = 1.2  # how soon a further occurrence stops to count
B = 0.75  # how much a long document has to make up for its length


@dataclass(frozen=True, kw_only=True, eq=False)
class Postings:
    """For each term the documents that it occurs in. T terms, P postings, N documents.

    terms: in order of code points. starts: T + 1, where each term's postings begin. documents, counts: P, which
    document, and how often. lengths: N, of documents in terms.
    """

    terms: Sequence[str]
    starts: NDArray[np.int64]
    documents: NDArray[np.int32]
    counts: NDArray[np.int32]
    lengths: NDArray[np.int32]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Each term's number."""
        return {term: number for number, term in enumerate(self.terms)}

    def idf(self, term: str) -> float:
        """How much finding a term says: the rarer, the more."""
        number = self.numbers.get(term)
        having = 0 if number is None else int(self.starts[number + 1] - self.starts[number])
        return math.log(1 + (len(self.lengths) - having + 0.5) / (having + 0.5))

    def scores(self, terms: Iterable[str]) -> NDArray[np.float64]:
        """The score of each document for the terms of a query; 0 where none of them occurs. N."""
        made = np.zeros(len(self.lengths))
        for term, wanted in Counter(terms).items():
            number = self.numbers.get(term)
            if number is None:
                continue
            part = slice(int(self.starts[number]), int(self.starts[number + 1]))
            documents, counts = self.documents[part], self.counts[part]
            made[documents] += wanted * self.idf(term) * counts / (counts + self._weights[documents])
        return made

    def share(self, scores: NDArray[np.float64], terms: Iterable[str]) -> NDArray[np.float64]:
        """Scores as shares of what a document would get that had every term of the query countless times. N, 0 to 1."""
        most = sum(self.idf(term) for term in terms)
        return scores / most if most else scores

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        """k1 · (1 - b + b · |d| / mean |d|) for each document."""
        mean = float(self.lengths.mean()) or 1.0  # all empty: nothing is found, whatever the mean
        weights: NDArray[np.float64] = K1 * (1 - B + B * self.lengths.astype(np.float64) / mean)
        return weights


def count_terms(documents: Iterable[Sequence[str]]) -> Postings:
    """Postings of documents that are given as their terms."""
    found: dict[str, tuple[list[int], list[int]]] = {}
    lengths: list[int] = []
    for number, terms in enumerate(documents):
        lengths.append(len(terms))
        for term, count in Counter(terms).items():
            places, counts = found.setdefault(term, ([], []))
            places.append(number)
            counts.append(count)
    terms = sorted(found)
    sizes = [len(found[term][0]) for term in terms]
    return Postings(
        terms=terms,
        starts=np.cumsum([0, *sizes], dtype=np.int64),
        documents=_joined([found[term][0] for term in terms]),
        counts=_joined([found[term][1] for term in terms]),
        lengths=np.array(lengths, dtype=np.int32),
    )


def _joined(lists: list[list[int]]) -> NDArray[np.int32]:
    return np.fromiter((one for part in lists for one in part), dtype=np.int32)
