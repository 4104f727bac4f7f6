"""What a tagger gets wrong: scores by type, which type is taken for which, and the surest mistakes."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clearformer.data.entity_tags import Span, spans
from clearformer.evaluation.entities import score_entities
from clearformer.evaluation.report import ErrorReport, Mistake, class_scores, confuse, worst
from clearformer.inference.word_tagger import Tagger
from clearformer.tasks.task import Judging

NOTHING = "no entity"


@dataclass(frozen=True, kw_only=True)
class HeldSentences:
    """Words and their tags, and where the sentences stand."""

    words: list[tuple[str, ...]]
    tags: list[tuple[str, ...]]
    places: list[str]


def report(tagger: Tagger, held: HeldSentences, judging: Judging) -> ErrorReport:
    """Scores, types, confusions of types at the same words, and the surest mistakes."""
    read = tagger.read_words(held.words, judging.options)
    found = [[tagger.labels[number] for number in tagger.legal.best(scores)] for scores in read]
    right: Counter[str] = Counter()
    said: Counter[str] = Counter()
    true: Counter[str] = Counter()
    pairs: list[tuple[str, str]] = []
    for mine, wanted in zip(found, held.tags, strict=True):
        here, there = set(spans(mine)), set(spans(wanted))
        for counter, group in ((right, here & there), (said, here), (true, there)):
            counter.update(span.kind for span in group)
        pairs += _pairs(here, there)
    mistakes = [
        mistake
        for row, scores in enumerate(read)
        for mistake in _mistakes(tagger, scores, held.words[row], held.tags[row], held.places[row])
    ]
    return ErrorReport(
        scores=score_entities(found, held.tags),
        classes=class_scores(right, said, true),
        confusion=confuse(pairs),
        mistakes=worst(mistakes),
        mistaken=len(mistakes),
    )


def _pairs(found: set[Span], wanted: set[Span]) -> Iterator[tuple[str, str]]:
    """True type and found type of entities over the same words; what has no partner stands beside nothing."""
    said = {(span.start, span.end): span.kind for span in found}
    true = {(span.start, span.end): span.kind for span in wanted}
    for place in said.keys() | true.keys():
        yield true.get(place, NOTHING), said.get(place, NOTHING)


def _mistakes(
    tagger: Tagger, scores: NDArray[np.float64], words: Sequence[str], tags: Sequence[str], place: str
) -> Iterator[Mistake]:
    """Entities that are found and wrong, and those that are missed where nothing wrong was found instead."""
    wanted = list(spans(tags))
    found = tagger.legal.entities(scores, tagger.legal.best(scores))
    wrong = [(span, share) for span, share in found if span not in wanted]
    text = _text(words)
    for span, share in wrong:
        instead = next((other for other in wanted if _touch(span, other)), None)
        yield Mistake(
            text=text, wanted=_named(instead, words), found=_named(span, words), probability=share, place=place
        )
    shares = _shares(tagger, scores, tags)
    right = {span for span, _ in found}
    for span in wanted:
        if span not in right and not any(_touch(span, other) for other, _ in wrong):
            missed = 1 - shares.get(span, 0.0)
            yield Mistake(text=text, wanted=_named(span, words), found=NOTHING, probability=missed, place=place)


def _shares(tagger: Tagger, scores: NDArray[np.float64], tags: Sequence[str]) -> dict[Span, float]:
    """How probable the model finds the true entities; a type that it does not know has no probability."""
    if not set(tags) <= set(tagger.labels):
        return {}
    return dict(tagger.legal.entities(scores, [tagger.labels.index(tag) for tag in tags]))


def _touch(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _named(span: Span | None, words: Sequence[str]) -> str:
    return NOTHING if span is None else f"{span.kind} “{_text(words[span.start : span.end])}”"


def _text(words: Sequence[str]) -> str:
    """Words as running text; single characters stand together, as in Chinese."""
    return ("" if all(len(word) == 1 for word in words) else " ").join(words)
