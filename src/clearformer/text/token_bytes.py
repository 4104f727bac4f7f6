"""What each token of a vocabulary adds to a text, in bytes, as its decoder spells it."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from clearformer.text.tokenizer import Tokenizer

Spelling = Callable[[str], str | bytes]


@dataclass(frozen=True)
class TokenBytes:
    """bytes: by id, None for tokens that are no text. strips: a space at the very beginning of a text is taken off."""

    bytes: tuple[bytes | None, ...]
    strips: bool


def token_bytes(tokenizer: Tokenizer) -> TokenBytes:
    """Every token's bytes; refused for vocabularies whose pieces do not say what stands between them."""
    parsed = json.loads(tokenizer.definition)
    steps = _flat(parsed.get("decoder"))
    kinds = [step["type"] for step in steps]
    spell, strips = _speller(tokenizer, steps)
    special = {added["id"] for added in parsed.get("added_tokens", []) if added.get("special")}
    special |= set(tokenizer.special_ids.values())
    found: list[bytes | None] = []
    for number in range(tokenizer.vocab_size):
        try:
            piece = None if number in special else tokenizer.piece(number)
        except KeyError:  # a number that no piece has
            piece = None
        found.append(None if piece is None else _as_bytes(piece, spell, byte_level="ByteLevel" in kinds))
    return TokenBytes(tuple(found), strips)


def _flat(decoder: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    if decoder is None:
        return []
    if decoder["type"] == "Sequence":
        return [step for inner in decoder["decoders"] for step in _flat(inner)]
    return [decoder]


def _speller(tokenizer: Tokenizer, steps: list[Mapping[str, Any]]) -> tuple[Spelling, bool]:
    """How a piece is spelt, and whether the text loses its first space."""
    replaced: list[tuple[str, str]] = []
    strips, spelt = False, {"ByteLevel", "ByteFallback", "Fuse"}
    for step in steps:
        kind = step["type"]
        if kind == "Metaspace":
            replaced.append((step["replacement"], " "))
            strips = step.get("prepend_scheme", "always") != "never"
        elif kind == "Replace" and "String" in step["pattern"]:
            replaced.append((step["pattern"]["String"], step["content"]))
        elif kind == "Strip" and step["content"] == " " and (step["start"], step["stop"]) == (1, 0):
            strips = True
        elif kind not in spelt:
            raise _unspelt(tokenizer)
    if not steps:
        raise _unspelt(tokenizer)
    fallback = any(step["type"] == "ByteFallback" for step in steps)

    def spell(piece: str) -> str | bytes:
        for old, new in replaced:
            piece = piece.replace(old, new)
        byte = re.fullmatch(r"<0x([0-9A-Fa-f]{2})>", piece) if fallback else None
        return bytes.fromhex(byte[1]) if byte else piece

    return spell, strips


def _unspelt(tokenizer: Tokenizer) -> ValueError:
    return ValueError(
        f"a {tokenizer.kind} vocabulary does not say how its pieces join to a text, so no form can be kept; "
        "use a model with another vocabulary"
    )


def _as_bytes(piece: str, spell: Spelling, *, byte_level: bool) -> bytes:
    said = spell(piece)
    if isinstance(said, bytes):
        return said
    if byte_level and all(letter in _BYTES for letter in said):
        return bytes(_BYTES[letter] for letter in said)
    return said.encode("utf-8")


def _byte_letters() -> dict[str, int]:
    """GPT-2's letters for bytes: printable ones stand for themselves, the others for letters from U+0100 on."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(0x100 + place): byte for place, byte in enumerate(others)}


_BYTES = _byte_letters()
