"""The smallest pieces: which characters a vocabulary spells as themselves, and how it spells all others in bytes.

A character that the vocabulary does not have is written as its UTF-8 bytes, one piece per byte. So nothing is ever
unknown, and rare characters cost pieces in a sentence instead of rows in the embedding.
"""

from collections import Counter
from collections.abc import Iterable

# Every ASCII character is a piece of its own, in training data or not; a byte below 0x80 therefore needs no piece.
ASCII = [chr(code) for code in range(0x80)]


def byte_piece(byte: int) -> str:
    """The spelling that the library's byte fallback looks for."""
    return f"<0x{byte:02X}>"


ALL_BYTES = [byte_piece(byte) for byte in range(0x100)]

# The bytes that UTF-8 uses for everything above ASCII: C0, C1 and F5 to FF never occur.
FALLBACK_BYTES = [byte_piece(byte) for byte in (*range(0x80, 0xC0), *range(0xC2, 0xF5))]


def count_characters(texts: Iterable[str]) -> Counter[str]:
    """How often each character occurs."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(text)
    return counts


def choose_alphabet(counts: Counter[str], room: int, min_frequency: int, always: Iterable[str] = ASCII) -> list[str]:
    """The characters worth a piece: `always`, then the most frequent that fit; ties are broken by code point."""
    kept = dict.fromkeys(always)
    frequent = [
        character
        for character, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        if count >= min_frequency and character not in kept
    ]
    return [*kept, *frequent[: max(0, room - len(kept))]]
