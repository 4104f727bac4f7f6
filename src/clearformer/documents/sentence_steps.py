"""How one sentence is translated while what it must keep is kept: as a whole if that goes well, else in parts.

First the whole sentence is asked for, with stand-ins for placeholders and addresses, and without the marks around its
words. What must be kept is then looked for. If it is not there, what lies between is translated by itself: a worse
translation, but nothing is lost. Each step asks for texts and is sent their translations, so that the texts of many
sentences share a batch.
"""

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clearformer.documents.kept_items import around_numbers, in_order
from clearformer.documents.line_ends import spread, units
from clearformer.documents.segments import Fragment, has_words, merged
from clearformer.documents.stand_ins import StandIn, exchanged, unused
from clearformer.text.kept_numbers import numbers_kept
from clearformer.text.language import code_of

_ENDS = ".!?。！？…"
_LAYOUT = frozenset("<>{}[]*_`|\\~")  # what HTML, Markdown, subtitles and format strings are marked with
_OPENS_A_LIST = re.compile(r"[-+*#>=|:]|\d{1,9}[.)]\s")
_BEFORE, _AFTER = " \t\u00a0,;:.!?)", " \t\u00a0,;("  # what stays where it is, around a part of a sentence
_COLONS = (":", "：")
_WIDE = re.compile("[\u2e80-\u9fff\uff00-\uffef]")


class Said(NamedTuple):
    """A translation, and how probable it is that it is a good one, where the model was calibrated."""

    text: str
    confidence: float | None = None


@dataclass(frozen=True)
class Made:
    """A sentence, translated. in_parts: the whole did not keep what it had to."""

    pieces: tuple[Fragment, ...]
    confidence: float | None = None
    in_parts: bool = False


@dataclass(frozen=True)
class Manner:
    """What the languages decide. names: that stand in for kept items."""

    source: str | None
    target: str | None
    names: tuple[StandIn, ...]

    @property
    def to_wide(self) -> bool:
        """Whether the target is written without spaces."""
        return code_of(self.target or "") in ("zh", "ja", "lzh")


Steps = Generator[list[str], list[Said], Made]
Parts = Generator[list[str], list[Said], Made | None]


def sentence_steps(pieces: Sequence[Fragment], manner: Manner) -> Steps:
    """The steps of one sentence, which may go over several lines."""
    found = yield from _whole_or_parts(without_breaks(pieces), manner)
    ended = _with_breaks(found.pieces, pieces)
    if ended is not None:
        return Made(ended, found.confidence, found.in_parts)
    made: list[Fragment] = []
    confidences = [found.confidence]
    for piece_or_line in _lines(pieces):
        if isinstance(piece_or_line, Fragment):
            made.append(piece_or_line)
            continue
        line = yield from _whole_or_parts(piece_or_line, manner)
        made += line.pieces
        confidences.append(line.confidence)
    return Made(tuple(made), _least(confidences), in_parts=True)


def without_breaks(pieces: Sequence[Fragment]) -> tuple[Fragment, ...]:
    """A sentence on one line; between Chinese characters a line end is nothing."""
    joined: list[Fragment] = []
    for number, piece in enumerate(pieces):
        if piece.kind != "break":
            joined.append(piece)
            continue
        before, after = (
            (joined[-1].text[-1:] if joined else ""),
            (pieces[number + 1].text[:1] if number + 1 < len(pieces) else ""),
        )
        needless = before.isspace() or after.isspace() or (_WIDE.match(before) and _WIDE.match(after))
        joined.append(Fragment("" if needless else " "))
    return tuple(merged(joined))


def _whole_or_parts(core: Sequence[Fragment], manner: Manner) -> Steps:
    if not any(piece.kind == "words" and has_words(piece.text) for piece in core):
        return Made(tuple(core))
    found = yield from _whole(core, manner)
    if found is not None:
        return found
    parted = yield from _parts(core, manner)
    return parted


def _whole(core: Sequence[Fragment], manner: Manner) -> Parts:
    """The sentence as one; None if the translation does not keep everything."""
    kept = [piece for piece in core if piece.kind == "kept"]
    plain = "".join(piece.text for piece in core if piece.kind == "words")
    names = unused(manner.names, plain)
    if len(kept) > len(names):
        return None
    used = names[: len(kept)]
    standing = iter(used)
    text = "".join(
        piece.text if piece.kind == "words" else next(standing).source if piece.kind == "kept" else "" for piece in core
    )
    inside = _inside(core)
    if inside is None or _is_name(text):
        return None
    wanted = _as_asked(text)
    answers = yield [wanted, *(part.strip() for part in inside)]
    said = _tidy(text, answers[0].text, manner)
    parts = exchanged(said, used)
    if parts is None or not said or not numbers_kept(plain, said):
        return None
    places = [part for part in parts if isinstance(part, int)]
    if not in_order([one.text for one in kept], [kept[place].text for place in places]):
        return None
    pieces = [Fragment(part) if isinstance(part, str) else kept[part] for part in parts]
    marks = [piece for piece in core if piece.kind == "mark"]
    insides = [_tidy(part, answer.text, manner) for part, answer in zip(inside, answers[1:], strict=True)]
    marked = _with_marks([piece for piece in pieces if piece.text], marks, insides)
    return None if marked is None else Made(tuple(marked), answers[0].confidence)


def _inside(core: Sequence[Fragment]) -> list[str] | None:
    """The words between an opening mark and its closing one; None where marks do not stand in pairs around words."""
    found: list[str] = []
    opened = False
    for piece in core:
        if piece.kind == "mark":
            opened = not opened
            if opened:
                found.append("")
        elif opened:
            if piece.kind == "kept":
                return None
            found[-1] += piece.text
    return None if opened or not all(has_words(part) for part in found) else found


def _with_marks(pieces: list[Fragment], marks: Sequence[Fragment], insides: Sequence[str]) -> list[Fragment] | None:
    """A translation with its marks around the words that are, translated alone, the same; None if these are not found
    once, in order."""
    result = list(pieces)
    at = 0
    for number, inside in enumerate(insides):
        spoken = [place for place in range(at, len(result)) if result[place].kind == "words"]
        found = [place for place in spoken if len(_places(inside, result[place].text)) == 1]
        if len(found) != 1:
            return None
        [place] = found
        text = result[place].text
        [match] = _places(inside, text)
        cut = (
            Fragment(text[: match.start()]), marks[2 * number], Fragment(match[0]), marks[2 * number + 1],
            Fragment(text[match.end() :]),
        )  # fmt: skip
        result[place : place + 1] = cut
        at = place + 4
    return [piece for piece in result if piece.text]


def _places(words: str, text: str) -> list[re.Match[str]]:
    pattern = re.escape(words)
    pattern = pattern if _WIDE.search(words) else rf"(?<!\w){pattern}(?!\w)"
    return list(re.finditer(pattern, text, re.IGNORECASE)) if words else []


def _parts(core: Sequence[Fragment], manner: Manner) -> Steps:
    """What lies between items and marks, each by itself; where a number is lost, what lies around it."""
    pieces = list(core)
    confidences: list[float | None] = []
    again = yield from _each(pieces, manner, confidences)
    for place in reversed(again):
        split = around_numbers(pieces[place].text)
        lost = yield from _each(split, manner, confidences)
        assert not lost, "without its numbers a text loses none"
        pieces[place : place + 1] = split
    return Made(tuple(pieces), _least(confidences), in_parts=True)


def _each(
    pieces: list[Fragment], manner: Manner, confidences: list[float | None]
) -> Generator[list[str], list[Said], list[int]]:
    """Translate words in their places, without what stands around them; returns where a number was lost."""
    inner = {n: one.text.lstrip(_BEFORE).rstrip(_AFTER) for n, one in enumerate(pieces) if one.kind == "words"}
    asked = [n for n, text in inner.items() if has_words(text) and not _is_name(text)]
    answers = yield [_as_asked(inner[n]) for n in asked]
    confidences += [answer.confidence for answer in answers]
    lost = []
    for n, answer in zip(asked, answers, strict=True):
        said = _tidy(inner[n], answer.text, manner)
        if not numbers_kept(inner[n], said):
            lost.append(n)
        elif said:
            pieces[n] = Fragment(pieces[n].text.replace(inner[n], said, 1))
    return lost


def _is_name(text: str) -> bool:
    """One word in capitals, as HTML or README: the same in every language."""
    word = text.strip().strip(".,:;!?()[]\"'")
    return word.isascii() and word.isupper() and len(word.split()) == 1


def _as_asked(text: str) -> str:
    """A heading in capitals is asked for in small letters, which a model knows."""
    return text.capitalize() if shouts(text) else text


def shouts(text: str) -> bool:
    """Whether a text of several words is written in capitals alone."""
    return text.isupper() and text.isascii() and sum(len(word) > 1 and word.isalpha() for word in text.split()) > 1


def _tidy(source: str, said: str, manner: Manner) -> str:
    """A translation with the capitals of its source, without a full stop or marks that the source did not have."""
    source, said = source.strip(), said.strip()
    said = said.upper() if shouts(source) else said
    said = "".join(sign for sign in said if sign in source or (sign not in _LAYOUT and _is_writable(sign)))
    if _OPENS_A_LIST.match(said) and not _OPENS_A_LIST.match(source):
        said = said.lstrip("-+*#>=|:. )")
    said = said.strip()
    if source.endswith(_COLONS):
        return said.rstrip(_ENDS).rstrip("".join(_COLONS)) + ("：" if manner.to_wide else ":")
    closing = source.rstrip("\"'”’»)]")
    if closing and closing[-1] not in _ENDS and said[-1:] in _ENDS:
        return said.rstrip(_ENDS)
    return said


def _is_writable(sign: str) -> bool:
    """No control character or end of a line: XML has no way to write most of them."""
    return sign >= " " and sign not in "\x7f\x85\u2028\u2029"


def _with_breaks(made: Sequence[Fragment], pieces: Sequence[Fragment]) -> tuple[Fragment, ...] | None:
    """The line ends of a sentence, in about the same places of its translation; None if it has too few places."""
    shares, breaks, before = [], [], 0
    total = sum(len(piece.text) for piece in pieces if piece.kind != "break") or 1
    for piece in pieces:
        if piece.kind == "break":
            shares.append(before / total)
            breaks.append(piece)
        else:
            before += len(piece.text)
    if not breaks:
        return tuple(made)
    parts = [
        Fragment(unit, one.kind) for one in made for unit in (units(one.text) if one.kind == "words" else [one.text])
    ]
    chosen = spread([part.text for part in parts], shares)
    if chosen is None:
        return None
    result = list(parts)
    for place, end in zip(reversed(chosen), reversed(breaks), strict=True):
        result[place - 1 : place] = [Fragment(result[place - 1].text.rstrip(), result[place - 1].kind), end]
    return tuple(merged(result))


def _lines(pieces: Sequence[Fragment]) -> list[Fragment | list[Fragment]]:
    found: list[Fragment | list[Fragment]] = []
    line: list[Fragment] = []
    for piece in pieces:
        if piece.kind == "break":
            found += [line, piece] if line else [piece]
            line = []
        else:
            line.append(piece)
    return [*found, line] if line else found


def _least(confidences: Sequence[float | None]) -> float | None:
    known = [one for one in confidences if one is not None]
    return min(known) if known and len(known) == len(confidences) else None
