"""Why did it say that? How much each word of a text counted for a class or an answer.

Two methods, which answer two questions. Attention rollout: where did the model look? Integrated gradients: what made
this logit higher or lower? Pieces are joined into words, and markers such as [CLS] stand apart. Where a text is read in
windows, a word's score is the mean over all windows, zero in those that do not show it: so the sums still hold.
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from clearformer.folder.bundle import Bundle
from clearformer.inference.attention_rollout import attention_rollout
from clearformer.inference.integrated_gradients import TracedRow, embedding_of, integrated_gradients
from clearformer.inference.reading_settings import Baseline, WhyConfig
from clearformer.inference.steppers import SourceBatch
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.word_spans import word_spans

MOST_PIECES = 8192  # of one text: each of its windows is run once for every point on the path, and back

Method = Literal["attention rollout", "integrated gradients"]
Part = Literal["text", "second", "question", "context"]


@dataclass(frozen=True, kw_only=True)
class WordScore:
    """A word, where it stands in its part of the input, and how much it counted."""

    word: str
    part: Part
    start: int
    end: int
    score: float


@dataclass(frozen=True, kw_only=True)
class MarkerScore:
    """A token that is no part of a text, such as [CLS]."""

    marker: str
    score: float


@dataclass(frozen=True, kw_only=True)
class Completeness:
    """The check that integrated gradients allow: the scores add up to what the logit gained over the baseline's.

    baseline: what stood for the words, as in "[MASK]"; steps: points on the path.
    """

    baseline: str
    steps: int
    logit: float
    baseline_logit: float
    total: float

    @property
    def difference(self) -> float:
        """What the scores should add up to."""
        return self.logit - self.baseline_logit

    @property
    def error(self) -> float:
        """How far they are from it, as a share of it."""
        return abs(self.total - self.difference) / max(abs(self.difference), 1e-9)


@dataclass(frozen=True, kw_only=True)
class Attribution:
    """What one method says. Rollout's scores are shares and sum to one; those of gradients have a sign and a check."""

    method: Method
    words: tuple[WordScore, ...]
    markers: tuple[MarkerScore, ...]
    completeness: Completeness | None = None

    @property
    def top(self) -> WordScore:
        """The word that counted most in favour."""
        return max(self.words, key=lambda one: one.score)


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """of: whose logit is explained, such as a class. windows: how many the input was read in and are averaged here."""

    of: str
    windows: int
    attributions: tuple[Attribution, ...]

    def to_plain(self) -> dict[str, Any]:
        """Every number, ready for JSON."""
        plain = asdict(self)
        for one, made in zip(plain["attributions"], self.attributions, strict=True):
            if (check := made.completeness) is None:
                del one["completeness"]
            else:
                one["completeness"] |= {"difference": check.difference, "error": check.error}
        return plain


class Place(NamedTuple):
    """Which characters of which part a token covers."""

    part: Part
    start: int
    end: int


class ReadRow(NamedTuple):
    """One window: its ids, their types if the model has them, and a place for each id; None for markers.

    logit_of: the logit to explain, from the output for N rows. looks: the places of the last layer that it is read
    from; None is the mean of all.
    """

    ids: Sequence[int]
    types: Sequence[int] | None
    places: Sequence[Place | None]
    logit_of: Callable[[Tensor], Tensor]
    looks: Sequence[int] | None


class AnyReader(Protocol):
    """What is needed of the object that reads."""

    bundle: Bundle
    model: nn.Module
    tokenizer: Tokenizer
    longest: int

    def rectangle(self, rows: Sequence[Sequence[int]]) -> SourceBatch: ...


def explain(
    reader: AnyReader, texts: Mapping[Part, str], rows: Sequence[ReadRow], of: str, config: WhyConfig
) -> Explanation:
    """Attribute what was read in these windows to the words of the texts."""
    words = {part: word_spans(text) or [(0, len(text))][: len(text)] for part, text in texts.items()}
    wanted = ("rollout", "gradient") if config.why == "both" else (config.why,)
    made = []
    for method in wanted:
        sums = _WordSums(texts, words, len(rows))
        if method == "rollout":
            for row in rows:
                sums.add(reader, row, _rollout_scores(reader, row))
            made.append(sums.result("attention rollout"))
        else:
            made.append(_by_gradients(reader, rows, sums, config))
    return Explanation(of=of, windows=len(rows), attributions=tuple(made))


def check_size(count: int) -> None:
    """Refuse a text that would take hours."""
    if count > MOST_PIECES:
        raise ValueError(f"has {count:,} tokens, and at most {MOST_PIECES:,} are explained; shorten it")


def _rollout_scores(reader: AnyReader, row: ReadRow) -> Tensor:
    given = _traced(reader, row)
    mixed = attention_rollout(reader.model, given.tokens, given.keep, **given.extra)[: len(row.ids)]
    seen = mixed if row.looks is None else mixed[list(row.looks)]
    return seen.mean(dim=0)


def _by_gradients(reader: AnyReader, rows: Sequence[ReadRow], sums: "_WordSums", config: WhyConfig) -> Attribution:
    kind = _usual_baseline(reader.tokenizer) if config.baseline is None else config.baseline
    ends = torch.zeros(2, dtype=torch.float64)
    for row in rows:
        given = _traced(reader, row)
        start = _baseline_vectors(reader, row, given, kind)
        found = integrated_gradients(reader.model, given, start, row.logit_of, steps=config.steps, batch=config.batch)
        sums.add(reader, row, found.scores)
        ends += torch.tensor([found.logit, found.baseline_logit], dtype=torch.float64) / len(rows)
    check = Completeness(
        baseline="zeros" if kind == "zero" else str(reader.tokenizer.special.spelling(kind)),
        steps=config.steps,
        logit=float(ends[0]),
        baseline_logit=float(ends[1]),
        total=sums.total,
    )
    return sums.result("integrated gradients", check)


def _traced(reader: AnyReader, row: ReadRow) -> TracedRow:
    """The row as the reader itself would run it."""
    source = reader.rectangle([row.ids])
    tokens, keep = source.tokens[:, : reader.longest], source.keep[:, : reader.longest]
    extra = {}
    if row.types is not None:
        extra["types"] = torch.zeros_like(tokens)
        extra["types"][0, : len(row.types)] = torch.tensor(row.types)
    return TracedRow(tokens, keep, extra)


def _usual_baseline(tokenizer: Tokenizer) -> Baseline:
    known = tokenizer.special_ids
    return "mask" if "mask" in known else "pad" if "pad" in known else "zero"


def _baseline_vectors(reader: AnyReader, row: ReadRow, given: TracedRow, kind: Baseline) -> Tensor:
    """The vectors with every piece of a text taken away. Markers keep theirs: they belong to every input. T D."""
    table = embedding_of(reader.model)
    with torch.inference_mode(False), torch.no_grad():
        vectors: Tensor = table(given.tokens)[0].clone()
        inside = [number for number, place in enumerate(row.places) if place is not None]
        if kind == "zero":
            vectors[inside] = 0.0
        elif kind in reader.tokenizer.special_ids:
            vectors[inside] = table.weight[reader.tokenizer.special_id(kind)].detach().clone()
        else:
            usual = _usual_baseline(reader.tokenizer)
            raise ValueError(f"this model's vocabulary has no {kind} token; choose the baseline {usual}")
    return vectors


class _WordSums:
    """Scores of pieces, added up by word and by marker."""

    def __init__(self, texts: Mapping[Part, str], words: Mapping[Part, list[tuple[int, int]]], windows: int) -> None:
        self.texts, self.words, self.windows = texts, words, windows
        self.ends = {part: [end for _, end in spans] for part, spans in words.items()}
        self.scores = {part: [0.0] * len(spans) for part, spans in words.items()}
        self.markers: list[tuple[str, float]] = []

    def add(self, reader: AnyReader, row: ReadRow, scores: Tensor) -> None:
        """One window's scores; the same markers stand in every window."""
        markers = []
        for number, place, score in zip(row.ids, row.places, scores.tolist(), strict=False):  # padding scores nothing
            share = score / self.windows
            if place is None:
                markers.append((reader.tokenizer.piece(number), share))
            else:
                self.scores[place.part][self._word(place)] += share
        before = self.markers or [(marker, 0.0) for marker, _ in markers]
        self.markers = [(marker, old + new) for (marker, old), (_, new) in zip(before, markers, strict=True)]

    def _word(self, place: Place) -> int:
        """The word that a piece belongs to; a piece of nothing but spaces goes to the word behind it."""
        piece = self.texts[place.part][place.start : place.end]
        first = place.start + len(piece) - len(piece.lstrip())
        return min(bisect_right(self.ends[place.part], first), len(self.ends[place.part]) - 1)

    @property
    def total(self) -> float:
        """The sum of all scores."""
        return sum(map(sum, self.scores.values())) + sum(score for _, score in self.markers)

    def result(self, method: Method, check: Completeness | None = None) -> Attribution:
        words = (
            WordScore(word=self.texts[part][start:end], part=part, start=start, end=end, score=score)
            for part, spans in self.words.items()
            for (start, end), score in zip(spans, self.scores[part], strict=True)
        )
        markers = (MarkerScore(marker=marker, score=score) for marker, score in self.markers)
        return Attribution(method=method, words=tuple(words), markers=tuple(markers), completeness=check)
