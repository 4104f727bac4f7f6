"""How a token is shown to a person. A piece of a character is shown as its bytes, never as "�".

Vocabularies spell a space before a word in three ways (" dog", "▁dog", "Ġdog"), continue words in one (WordPiece's
"##s"), and write single bytes as "<0xE4>" or as the stand-in characters of byte-level BPE.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TypedDict

from clearformer.text.tokenizer import Tokenizer

BYTE = re.compile(r"<0x([0-9A-F]{2})>")
SPACES = (" ", "▁", "Ġ")


class Token(TypedDict, total=False):
    """kind: text, special, bytes or id; starts: begins a word; whole: the character that bytes are a part of."""

    id: int
    text: str
    kind: str
    starts: bool
    whole: str


def spell(tokenizer: Tokenizer | None, ids: Sequence[int]) -> list[Token]:
    """Every token of a sequence, with the characters that consecutive byte tokens make together."""
    if tokenizer is None:
        return [{"id": number, "text": str(number), "kind": "id", "starts": True} for number in ids]
    tokens = [_one(tokenizer, number) for number in ids]
    _join_bytes(tokens)
    return tokens


def spell_each(tokenizer: Tokenizer | None, ids: Sequence[int]) -> list[Token]:
    """Tokens that are rivals for one place: the bytes of neighbours make no character together."""
    return [token for number in ids for token in spell(tokenizer, [number])]


def _one(tokenizer: Tokenizer, number: int) -> Token:
    try:
        piece = tokenizer.piece(number)
    except (KeyError, ValueError):  # a model's table may have more rows than its vocabulary has pieces
        return {"id": number, "text": f"#{number}", "kind": "special", "starts": True}
    if number in tokenizer.special_ids.values():
        return {"id": number, "text": piece, "kind": "special", "starts": True}
    if (found := BYTE.fullmatch(piece)) is not None:
        return {"id": number, "text": found[1], "kind": "bytes", "starts": False}
    text = tokenizer.decode([number])
    if "\ufffd" in text and "\ufffd" not in piece:
        return {"id": number, "text": _hex(piece), "kind": "bytes", "starts": piece.startswith("Ġ")}
    if tokenizer.kind == "wordpiece":
        return {"id": number, "text": piece, "kind": "text", "starts": not piece.startswith("##")}
    starts = piece.startswith(SPACES)
    shown = text if text.startswith(" ") or not starts else " " + text
    return {"id": number, "text": shown or piece, "kind": "text", "starts": starts}


def _join_bytes(tokens: list[Token]) -> None:
    """Tell the byte tokens which character they are part of."""
    start = 0
    while start < len(tokens):
        if tokens[start]["kind"] != "bytes":
            start += 1
            continue
        end = start
        while end < len(tokens) and tokens[end]["kind"] == "bytes":
            end += 1
        _name_characters(tokens[start:end])
        start = end


def _name_characters(run: list[Token]) -> None:
    """A run of byte tokens, cut where whole characters end."""
    pending: list[Token] = []
    for token in run:
        pending.append(token)
        try:
            text = bytes.fromhex("".join(part["text"] for part in pending)).decode()
        except (UnicodeDecodeError, ValueError):
            continue
        for part in pending:
            part["whole"] = text
        pending = []


def _hex(piece: str) -> str:
    """The bytes behind the stand-in characters of byte-level BPE, as hexadecimal digits."""
    table = _byte_of()
    return "".join(f"{table[char]:02X}" if char in table else char.encode().hex().upper() for char in piece)


@lru_cache(maxsize=1)
def _byte_of() -> dict[str, int]:
    """Byte-level BPE writes printable bytes as themselves and the others, in order, as characters from U+0100."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + place): byte for place, byte in enumerate(others)}
