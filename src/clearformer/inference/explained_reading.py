"""What there is to explain in a text that was read: a class's logit, or those of an answer's two ends."""

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from clearformer.inference.answer_windows import AskedWindows, ContextWindow
from clearformer.inference.attribution import Explanation, Part, Place, ReadRow, check_size, explain
from clearformer.inference.reading_settings import WhyClassConfig, WhyConfig
from clearformer.inference.text_windows import TextOrPair
from clearformer.text.tokenizer import EncodedPair
from clearformer.text.unusable import UnusableTextError

if TYPE_CHECKING:  # the readers call these functions
    from clearformer.inference.answer_finder import Answer, Answerer
    from clearformer.inference.text_readers import Classifier

NO_ANSWER, NUMBER = "no answer", "the number"


def explain_class(
    classifier: "Classifier", given: TextOrPair, found: str, config: WhyClassConfig, number: int = 1
) -> Explanation:
    """Why this class, or the one that `config.of` names. found: the class that was found, or NUMBER; number: of the
    text.
    """
    label, output_of = _explained_output(classifier, found, config.of)
    texts: dict[Part, str] = {"text": given} if isinstance(given, str) else {"text": given[0], "second": given[1]}
    cut = classifier.cut(given, number)
    try:
        check_size(len(cut.pieces))
    except ValueError as error:
        raise UnusableTextError(number, str(error)) from None
    second = cut.pieces.second if isinstance(cut.pieces, EncodedPair) else [False] * len(cut.pieces)
    places = [
        Place("second" if other else "text", *place) if place[0] < place[1] else None
        for place, other in zip(cut.pieces.offsets, second, strict=True)
    ]
    rows = []
    for window in cut.windows:
        after = len(window.ids) - window.lead - window.width
        inside = places[window.begin : window.begin + window.width]
        looks = {"first": [0], "last": [len(window.ids) - 1]}.get(classifier.bundle.config.head.pool)
        rows.append(
            ReadRow(
                ids=window.ids,
                types=window.types if classifier.typed else None,
                places=[*[None] * window.lead, *inside, *[None] * after],
                logit_of=lambda output: output[:, output_of],
                looks=looks,
            )
        )
    return explain(classifier, texts, rows, label, config)


def explain_answer(
    answerer: "Answerer", question: str, context: str, found: "Answer", config: WhyConfig
) -> Explanation:
    """Why this passage: the sum of the start and end logits in the window that it was taken from, or, where nothing was
    answered, of the first token in every window.
    """
    pair = answerer.tokenizer.encode_pair(question, context)
    try:
        check_size(len(pair))
    except ValueError as error:
        raise ValueError(f"the text {error}") from None
    asked = answerer.cut(question, context)
    typed = answerer.bundle.config.embedding.types > 1
    windows, first, last = asked.windows, 0, 0
    if found.text:
        number, first, last = _taken_from(answerer, asked, found, config.batch)
        windows = [asked.windows[number]]
    rows = []
    for window in windows:
        rows.append(
            ReadRow(
                ids=window.ids,
                types=window.types if typed else None,
                places=_pair_places(pair, window, len(asked.places)),
                logit_of=lambda output: output[:, first, 0] + output[:, last, 1],
                looks=[first, last],
            )
        )
    return explain(answerer, {"question": question, "context": context}, rows, found.text or NO_ANSWER, config)


def _explained_output(classifier: "Classifier", found: str, of: str | None) -> tuple[str, int]:
    """What is explained, by name, and which of the head's outputs that is."""
    if classifier.outcome.kind != "number":
        label = _known_label(classifier.labels, found if of is None else of)
        return label, classifier.labels.index(label)
    if of is not None:
        raise ValueError(f"this model gives a number to each text, so it has no class {of!r} to explain; leave it out")
    return NUMBER, 0


def _known_label(labels: Sequence[str], label: str) -> str:
    if label not in labels:
        near = difflib.get_close_matches(label, labels, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(labels[:8])}{' …' * (len(labels) > 8)}"
        raise ValueError(f"the model has no class {label!r}; {hint}")
    return label


def _pair_places(pair: EncodedPair, window: ContextWindow, count: int) -> list[Place | None]:
    """Where each token of a window stands in the question or the context."""
    whole: list[Place | None] = [
        Place("context" if second else "question", *place) if place[0] < place[1] else None
        for place, second in zip(pair.offsets, pair.second, strict=True)
    ]
    begin = window.lead + window.begin
    return [*whole[: window.lead], *whole[begin : begin + window.width], *whole[window.lead + count :]]


def _taken_from(answerer: "Answerer", asked: AskedWindows, found: "Answer", batch: int) -> tuple[int, int, int]:
    """The window where the passage was likeliest, and the places of its first and last token there."""
    pieces = asked.pieces(found.start, found.end)
    assert pieces is not None, "an answer has at least one piece"
    best: tuple[float, int, int, int] | None = None
    for number, (window, logits) in enumerate(
        zip(asked.windows, answerer.window_logits(asked.windows, batch), strict=True)
    ):
        if not window.begin <= pieces[0] <= pieces[1] < window.begin + window.width:
            continue
        first, last = (window.lead + piece - window.begin for piece in pieces)
        odds = float(logits[first, 0] + logits[last, 1] - answerer.against(logits))
        if best is None or odds > best[0]:
            best = (odds, number, first, last)
    assert best is not None, "an answer stands in one window"
    return best[1:]
