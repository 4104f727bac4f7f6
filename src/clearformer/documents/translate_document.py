"""A document, sentence by sentence, through anything that translates texts; equal sentences are asked for once."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice

from clearformer.documents.kept_items import guarded
from clearformer.documents.segments import Fragment, OpenDocument, TextSegment, has_words, merged, plain
from clearformer.documents.sentence_steps import Made, Manner, Said, sentence_steps
from clearformer.documents.translation_journal import Journal, Key
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.text.sentence_ends import sentence_spans
from clearformer.text.unusable import UnusableTextError

Ask = Callable[[list[str]], list[Said]]
PORTION = 64  # sentences between two entries of the journal
_ITEM, _BREAK = "\ufffc", "\n"  # what stands for one piece while sentences are looked for
_WIDE_END = re.compile("[。！？…”’」』）》】]$")


@dataclass(frozen=True)
class TranslatedSentence:
    """One sentence of a document, for whoever wants to see them all. place: file and line."""

    place: str
    source: str
    text: str
    confidence: float | None
    in_parts: bool


@dataclass(frozen=True)
class TranslatedDocument:
    """The document as bytes, and its sentences."""

    data: bytes
    sentences: tuple[TranslatedSentence, ...]


class Layout:
    """A document's segments as sentences and what stands between them."""

    def __init__(self, document: OpenDocument, language: str | None) -> None:
        self.document = document
        escape = getattr(document, "escape", plain)
        self.rows = [[*_row(segment, escape, language)] for segment in document.segments]

    def keys(self) -> list[Key]:
        """Every sentence once, in the order in which they are met."""
        return list(dict.fromkeys(part for row in self.rows for part in row if isinstance(part, tuple)))


def translate_document(
    document: OpenDocument,
    ask: Ask,
    manner: Manner,
    *,
    journal: Journal | None = None,
    on_progress: OnProgress = unwatched,
) -> TranslatedDocument:
    """Translate what is text; the rest of the bytes stay. journal: where sentences are kept, and found again."""
    layout = Layout(document, manner.source)
    keys = layout.keys()
    known = {} if journal is None else journal.read()
    made = {key: known[key] for key in keys if key in known}
    if journal is not None:
        journal.begin(made)
    on_progress(len(made), len(keys))
    left = iter([key for key in keys if key not in made])
    while portion := list(islice(left, PORTION)):
        with _naming(layout, portion):
            found = list(zip(portion, in_company([sentence_steps(key, manner) for key in portion], ask), strict=True))
        if journal is not None:
            journal.add(found)
        made.update(found)
        on_progress(len(made), len(keys))
    return _assembled(layout, made, manner)


def in_company(steps: Sequence[Iterator[list[str]]], ask: Ask) -> list[Made]:
    """Run the steps of many sentences side by side, so that what they ask for shares batches."""
    done: dict[int, Made] = {}
    sent: dict[int, list[Said] | None] = dict.fromkeys(range(len(steps)))
    known: dict[str, Said] = {}
    while len(done) < len(steps):
        asked: dict[int, list[str]] = {}
        for number, answers in sent.items():
            try:
                asked[number] = steps[number].send(answers)  # type: ignore[attr-defined]  # generators
            except StopIteration as ended:
                done[number] = ended.value
        texts = list(dict.fromkeys(text for row in asked.values() for text in row if text not in known))
        known.update(zip(texts, ask(texts) if texts else [], strict=True))
        sent = {number: [known[text] for text in row] for number, row in asked.items()}
    return [done[number] for number in range(len(steps))]


@contextmanager
def _naming(layout: Layout, keys: Sequence[Key]) -> Iterator[None]:
    """A text that a model refuses is named by the place of the first sentence that it was asked with."""
    try:
        yield
    except UnusableTextError as error:
        wanted = set(keys)
        rows = zip(layout.document.segments, layout.rows, strict=True)
        near = next(one for one, row in rows if wanted.intersection(part for part in row if isinstance(part, tuple)))
        raise ValueError(f"{layout.document.place(near)} or below: a part of a sentence {error.reason}") from error


def _row(segment: TextSegment, escape: Callable[[str], str], language: str | None) -> Iterator[Fragment | Key]:
    """A segment as sentences (tuples of pieces) and the pieces between them."""
    run: list[Fragment] = []
    for piece in merged(guarded(segment.pieces, escape)):
        if piece.kind == "stop":
            yield from _run(run, language)
            yield piece
            run = []
        else:
            run.append(piece)
    yield from _run(run, language)


def _run(pieces: Sequence[Fragment], language: str | None) -> Iterator[Fragment | Key]:
    signs: list[str] = []
    owners: list[Fragment] = []
    for piece in pieces:
        shown = piece.text if piece.kind == "words" else _BREAK if piece.kind == "break" else _ITEM
        signs.append(shown)
        owners += [piece] * len(shown)
    flat, last = "".join(signs), 0
    for start, end in sentence_spans(flat, language):
        start, end = _without_outer_marks(owners, flat, start, end)
        yield from _slice(owners, flat, last, start)
        key = tuple(merged(_slice(owners, flat, start, end)))
        if any(piece.kind == "words" and has_words(piece.text) for piece in key):
            yield key
        else:
            yield from key
        last = end
    yield from _slice(owners, flat, last, len(flat))


def _slice(owners: Sequence[Fragment], flat: str, start: int, end: int) -> Iterator[Fragment]:
    place = start
    while place < end:
        owner, first = owners[place], place
        while place < end and owners[place] is owner:
            place += 1
        yield Fragment(flat[first:place]) if owner.kind == "words" else owner


def _without_outer_marks(owners: Sequence[Fragment], flat: str, start: int, end: int) -> tuple[int, int]:
    """A sentence without what is at its ends and is no word; a mark stays where it is one of a pair inside."""
    first, last = start, end
    while first < last and (owners[first].kind in ("mark", "break") or flat[first].isspace()):
        first += 1
    while first < last and (owners[last - 1].kind in ("mark", "break") or flat[last - 1].isspace()):
        last -= 1
    before = [place for place in range(start, first) if owners[place].kind == "mark"]
    after = [place for place in range(last, end) if owners[place].kind == "mark"]
    inner = [owners[place].text for place in range(first, last) if owners[place].kind == "mark"]
    if len(inner) % 2:  # <b>Note:</b> the first belongs to one inside
        if before:
            return before[-1], last
        return first, after[0] + 1 if after else last
    if inner and before and after and (inner[0].startswith("</") or inner[0] == owners[before[-1]].text):
        return before[-1], after[0] + 1  # <b>one</b> and <b>another</b>
    return first, last


def _assembled(layout: Layout, made: dict[Key, Made], manner: Manner) -> TranslatedDocument:
    segments, sentences = [], []
    for segment, row in zip(layout.document.segments, layout.rows, strict=True):
        pieces: list[Fragment] = []
        for number, part in enumerate(row):
            if isinstance(part, Fragment):
                between = 0 < number < len(row) - 1 and part.kind == "words"
                pieces.append(Fragment("") if between and _is_needless(part, pieces, manner) else part)
                continue
            if number and isinstance(row[number - 1], tuple) and not manner.to_wide:
                pieces.append(Fragment(" "))  # no space stands between Chinese sentences
            one = made[part]
            pieces += one.pieces
            sentences.append(
                TranslatedSentence(
                    layout.document.place(segment), _shown(part), _shown(one.pieces), one.confidence, one.in_parts
                )
            )
        segments.append([piece for piece in pieces if piece.text])
    return TranslatedDocument(layout.document.rebuilt(segments), tuple(sentences))


def _is_needless(gap: Fragment, before: Sequence[Fragment], manner: Manner) -> bool:
    return gap.text == " " and manner.to_wide and bool(before and _WIDE_END.search(before[-1].text))


def _shown(pieces: Sequence[Fragment]) -> str:
    return "".join(" " if piece.kind == "break" else piece.text for piece in pieces)
