"""SentencePiece's .model files, read without its library: a list of pieces with scores, and how text is prepared.

The file is a protocol buffer: a sequence of fields, each with a number, a kind and a length. The few fields that matter
are read here, with every length checked against what is left.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import tokenizers
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers

from clearformer.interop.foreign_files import read_bytes

_MOST_PIECES = 2_000_000
_LONGEST_PIECE = 4096  # characters; every way to divide a piece is tried
_UNIGRAM, _BPE = 1, 2
_NORMAL, _UNKNOWN, _CONTROL, _USER, _BYTE = 1, 2, 3, 4, 6
SPACE = "▁"


class Piece(NamedTuple):
    """A piece of the file; its id is its index."""

    text: str
    score: float
    kind: int


@dataclass(frozen=True, kw_only=True)
class Proto:
    """The parts of a model file that decide how a text is split."""

    pieces: tuple[Piece, ...]
    algorithm: int
    byte_fallback: bool
    charsmap: bytes
    dummy_prefix: bool
    squeeze_spaces: bool

    @property
    def unk(self) -> int:
        return next((number for number, piece in enumerate(self.pieces) if piece.kind == _UNKNOWN), 0)


def read_proto(path: Path) -> Proto:
    """Open a .model or .spm file."""
    data = read_bytes(path)
    try:
        return _proto(data)
    except (ValueError, struct.error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a SentencePiece model ({error}); download it again") from None


def unigram_or_bpe(proto: Proto, ids: dict[str, int] | None = None) -> tokenizers.Tokenizer:
    """The same segmentation with the `tokenizers` library.

    ids: the id of each piece where another file has them (Marian). Pieces that only that file has can be decoded but
    are never produced; those that it lacks are left out.
    """
    engine = tokenizers.Tokenizer(_unigram(proto, ids) if proto.algorithm == _UNIGRAM else _bpe(proto, ids))
    steps: list[normalizers.Normalizer] = [normalizers.Precompiled(proto.charsmap)] if proto.charsmap else []
    scheme = "always" if proto.dummy_prefix else "never"
    if proto.squeeze_spaces:
        steps += [normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), " ")]
    if proto.algorithm == _UNIGRAM:
        engine.pre_tokenizer = pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme=scheme, split=True)
    else:  # merges may cross spaces, so nothing is split
        steps += [normalizers.Prepend(SPACE)] if proto.dummy_prefix else []
        steps += [normalizers.Replace(" ", SPACE)]
    if steps:
        engine.normalizer = normalizers.Sequence(steps)
    undo: list[decoders.Decoder] = [decoders.Replace(HIDDEN, ""), decoders.Replace(SPACE, " ")]
    undo += [decoders.ByteFallback()] if proto.byte_fallback else []
    engine.decoder = decoders.Sequence([*undo, decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    marked = [piece for piece in proto.pieces if piece.kind in (_CONTROL, _USER)]
    known = {piece.text for piece in marked} if ids is None else ids.keys()
    engine.add_tokens(
        [
            AddedToken(piece.text, special=piece.kind == _CONTROL, normalized=False)
            for piece in marked
            if piece.text in known
        ]
    )
    return engine


# A piece that this side of a vocabulary never produces is hidden behind this character, which no normalised text has.
HIDDEN = "\0"


def _unigram(proto: Proto, ids: dict[str, int] | None) -> models.Unigram:
    scores = {piece.text: piece.score for piece in proto.pieces if piece.kind not in (_CONTROL, _UNKNOWN)}
    if ids is None:
        listed = [(piece.text, piece.score) for piece in proto.pieces]
        return models.Unigram(listed, unk_id=proto.unk, byte_fallback=proto.byte_fallback)
    unknown = proto.pieces[proto.unk].text
    if unknown not in ids:
        raise ValueError(f"vocab.json has no number for {unknown!r}")
    least = min((score for text, score in scores.items() if text in ids), default=0.0)
    by_number = {number: text for text, number in ids.items()}
    if sorted(by_number) != list(range(len(ids))):
        raise ValueError("vocab.json does not number its pieces from 0 without gaps")
    special = {unknown, *(piece.text for piece in proto.pieces if piece.kind == _CONTROL), "<pad>"}
    listed = []
    for number in range(len(ids)):
        text = by_number[number]
        spelt = text if text in scores or text in special else HIDDEN + text
        listed.append((spelt, scores.get(text, least)))
    return models.Unigram(listed, unk_id=ids[unknown], byte_fallback=proto.byte_fallback)


def _bpe(proto: Proto, ids: dict[str, int] | None) -> models.BPE:
    """The file has no merges: any two pieces that make a third are one, ordered by score."""
    numbered = {piece.text: number for number, piece in enumerate(proto.pieces)} if ids is None else ids
    merges = []
    for piece in proto.pieces:
        if piece.kind != _NORMAL or piece.text not in numbered:
            continue
        for cut in range(1, len(piece.text)):
            left, right = piece.text[:cut], piece.text[cut:]
            if left in numbered and right in numbered:
                merges.append((-piece.score, numbered[left], numbered[right], left, right))
    merges.sort()
    return models.BPE(
        vocab=numbered,
        merges=[(left, right) for *_, left, right in merges],
        unk_token=proto.pieces[proto.unk].text,
        fuse_unk=True,
        byte_fallback=proto.byte_fallback,
    )


def _proto(data: bytes) -> Proto:
    pieces: list[Piece] = []
    trainer: dict[int, bytes | int] = {}
    normalizer: dict[int, bytes | int] = {}
    for number, value in _fields(data):
        if number == 1 and isinstance(value, bytes):
            pieces.append(_piece(value))
            if len(pieces) > _MOST_PIECES:
                raise ValueError(f"more than {_MOST_PIECES:,} pieces")
        elif number == 2 and isinstance(value, bytes):
            trainer = dict(_fields(value))
        elif number == 3 and isinstance(value, bytes):
            normalizer = dict(_fields(value))
    if not pieces:
        raise ValueError("it has no pieces")
    algorithm, charsmap = trainer.get(3, _UNIGRAM), normalizer.get(2, b"")
    if algorithm not in (_UNIGRAM, _BPE):
        raise ValueError(f"it uses algorithm {algorithm!r}, and only unigram (1) and BPE (2) are supported")
    if trainer.get(24, 0):
        raise ValueError("it puts spaces after words, which is not supported")
    return Proto(
        pieces=tuple(pieces),
        algorithm=int(algorithm),
        byte_fallback=bool(trainer.get(35, 0)),
        charsmap=charsmap if isinstance(charsmap, bytes) else b"",
        dummy_prefix=bool(normalizer.get(3, 1)),
        squeeze_spaces=bool(normalizer.get(4, 1)),
    )


def _piece(data: bytes) -> Piece:
    text, score, kind = "", 0.0, _NORMAL
    for number, value in _fields(data):
        if number == 1 and isinstance(value, bytes):
            text = value.decode("utf-8")
            if len(text) > _LONGEST_PIECE:
                raise ValueError(f"a piece of {len(text):,} characters")
        elif number == 2 and isinstance(value, bytes):
            [score] = struct.unpack("<f", value)
        elif number == 3 and isinstance(value, int):
            kind = value
    return Piece(text, score, kind)


def _fields(data: bytes) -> Iterator[tuple[int, bytes | int]]:
    """Each field's number and value: an integer, or the bytes of a text, a float or a nested message."""
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        kind = key & 7
        if kind == 0:
            value, place = _varint(data, place)
            yield key >> 3, value
            continue
        if kind == 2:
            length, place = _varint(data, place)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
        else:
            raise ValueError(f"a field of the unknown kind {kind}")
        if length > len(data) - place:
            raise ValueError("a field that is longer than the file")
        yield key >> 3, data[place : place + length]
        place += length


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 64, 7):
        if place >= len(data):
            raise ValueError("it ends inside a number")
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
    raise ValueError("a number of more than ten bytes")
