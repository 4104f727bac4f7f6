"""Ask an index: which documents have these words, which mean this, and which both.

A document's cosine is that of its best window with the query, so that a long one is not a blur of all that it says.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from clearformer.folder.description import ModelFolder, open_folder
from clearformer.retrieval.fusion import Scores, fuse_ranks, fuse_scores, rank
from clearformer.retrieval.index_folder import IndexContent, IndexedModel, load_index
from clearformer.retrieval.terms import document_terms, query_terms
from clearformer.text.unusable import UnusableTextError

if TYPE_CHECKING:
    from clearformer.inference.text_readers import Embedder

By = Literal["fused", "meaning", "words", "ranks"]
WAYS: tuple[By, ...] = get_args(By)


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A document that was found.

    text: the part of it that fits best, which stands at `line` and from character `start` to `end` of its file.
    passage: the whole line or passage; None where documents are files. score: what decided, by which of several ways;
    cosine and bm25: each by itself, where it was asked for.
    """

    file: str
    line: int
    start: int
    end: int
    score: float
    text: str
    passage: str | None
    cosine: float | None = None
    bm25: float | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class DocumentScores:
    """What a query has to do with each of N documents and W windows. None: this was not asked for."""

    bm25: NDArray[np.float64] | None = None  # N
    share: NDArray[np.float64] | None = None  # N, of the query's words, 0 to 1
    windows: NDArray[np.float32] | None = None  # W, cosines
    cosine: NDArray[np.float32] | None = None  # N, of each document's best window

    def ranked(self, by: By) -> tuple[NDArray[np.int64], Scores]:
        """The documents from the best to the worst, and the score of each document by its number."""
        if by == "words":
            return _having(_asked(self.bm25)), _asked(self.bm25)
        if by == "meaning":
            scores: Scores = _asked(self.cosine)
        elif by == "ranks":
            cosine = _asked(self.cosine)
            scores = fuse_ranks([_having(_asked(self.bm25)), rank(cosine)], len(cosine))
        else:
            scores = fuse_scores(_asked(self.cosine), _asked(self.share))
        return rank(scores), scores


class SearchIndex:
    """An index that can be asked. model: the one that made its vectors, opened when a query first needs it."""

    def __init__(self, content: IndexContent, model: "Embedder | str | Path | None" = None) -> None:
        self.content = content
        self._model = model

    def __len__(self) -> int:
        return len(self.content.texts)

    def __repr__(self) -> str:
        kind = "words" if self.content.model is None else "words and meaning"
        return f"SearchIndex({len(self):,} × {self.content.unit} of {len(self.content.files):,} × file, by {kind})"

    def ask(self, query: str, *, k: int = 10, by: By | None = None) -> list[Hit]:
        """The best `k` documents. by: words and meaning fused by scores or by ranks, or one of them alone; None: all
        that the index has.
        """
        return next(self.ask_all([query], k=k, by=by))

    def ask_all(self, queries: Sequence[str], *, k: int = 10, by: By | None = None) -> Iterator[list[Hit]]:
        """The same for several queries, in order; they are embedded together."""
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}")
        for query, scores in zip(queries, self.scores(queries, by), strict=True):
            order, shown = scores.ranked(self._way(by))
            yield [self._hit(int(number), float(shown[number]), scores, query) for number in order[:k]]

    def scores(self, queries: Sequence[str], by: By | None = None) -> Iterator[DocumentScores]:
        """For each query what it has to do with every document."""
        way = self._way(by)
        for number, query in enumerate(queries, start=1):
            if not query.strip():
                raise UnusableTextError(number, "is empty; say what to look for")
        vectors = None
        if way != "words":
            purpose = self.embedder.purpose("query")
            vectors = self.embedder.embed(list(queries), prompt=purpose).numpy()
        for number, query in enumerate(queries):
            bm25 = share = windows = cosine = None
            if way != "meaning":
                terms = query_terms(query)
                bm25 = self.content.postings.scores(terms)
                share = self.content.postings.share(bm25, terms)
            if vectors is not None:
                windows = self.content.vectors @ vectors[number]
                cosine = np.maximum.reduceat(windows, self._first)
            yield DocumentScores(bm25=bm25, share=share, windows=windows, cosine=cosine)

    def _way(self, by: By | None) -> By:
        way = by or ("fused" if self.content.model else "words")
        if way not in WAYS:
            raise ValueError(f"by must be {', '.join(WAYS[:-1])} or {WAYS[-1]}, not {way!r}")
        return way

    @cached_property
    def embedder(self) -> "Embedder":
        """The model that made the vectors; another one is refused."""
        from clearformer.inference.text_readers import Embedder

        made = self.content.model
        if made is None:
            raise ValueError(
                "this index was built without a model, so it finds words alone; build it with --model, or ask by words"
            )
        if isinstance(self._model, Embedder):
            return self._model
        return open_embedder(open_indexed(made, self._model))

    @cached_property
    def _first(self) -> NDArray[np.int64]:
        """The number of each document's first window. N."""
        return np.searchsorted(self.content.windows[:, 0], np.arange(len(self)))

    def _hit(self, number: int, score: float, scores: DocumentScores, query: str) -> Hit:
        document = self.content.document(number)
        _, start, end = (int(one) for one in self.content.windows[self._best_window(number, scores, query)])
        text = document.text
        return Hit(
            file=document.file,
            line=document.line + text.count("\n", 0, start),
            start=document.start + start,
            end=document.start + end,
            score=score,
            text=text[start:end],
            passage=None if self.content.unit == "file" else text,
            cosine=None if scores.cosine is None else float(scores.cosine[number]),
            bm25=None if scores.bm25 is None else float(scores.bm25[number]),
        )

    def _best_window(self, number: int, scores: DocumentScores, query: str) -> int:
        first = int(self._first[number])
        last = int(self._first[number + 1]) if number + 1 < len(self) else len(self.content.windows)
        if scores.windows is not None:
            return first + int(scores.windows[first:last].argmax())
        wanted, text = set(query_terms(query)), self.content.texts[number]
        spans = [text[start:end] for _, start, end in self.content.windows[first:last].tolist()]
        found = [wanted.intersection(document_terms(span)) for span in spans]
        return first + int(np.argmax([sum(sorted(map(self.content.postings.idf, one))) for one in found]))


def _asked(scores: NDArray[Any] | None) -> NDArray[Any]:
    if scores is None:
        raise ValueError("these scores were made for another way to rank")
    return scores


def _having(bm25: NDArray[np.float64]) -> NDArray[np.int64]:
    """The documents that have one of the words, the best first; without a common word, nothing is found."""
    return rank(bm25)[: int((bm25 > 0).sum())]


def open_index(folder: str | Path, *, model: str | Path | None = None) -> SearchIndex:
    """Open an index. model: where the model lies now, if not where it was when the index was built."""
    return SearchIndex(load_index(Path(folder)), model)


def open_indexed(made: IndexedModel, given: str | Path | None) -> ModelFolder:
    """The folder of the model that an index was built with; one that holds anything else is refused."""
    try:
        folder = open_folder(made.name if given is None else given)
    except ValueError as error:
        if given is not None:
            raise
        raise ValueError(f"the index's model {made.name} is gone; say where it is now with --model") from error
    if folder.fingerprint != made.fingerprint:
        raise ValueError(
            f"{folder.path} is not the model that the index was built with ({made.name}, {made.fingerprint[:12]}), and "
            "vectors of two models cannot be compared; give that one with --model, or build the index again"
        )
    return folder


def open_embedder(folder: ModelFolder) -> "Embedder":
    """A model that embeds texts, ready for use."""
    from clearformer.folder import bundle
    from clearformer.inference.text_readers import Embedder

    return Embedder(bundle.load(folder))
