"""A text, or a pair of texts, in windows that a classifier can read."""

from typing import NamedTuple

from clearformer.data.pair_types import pair_types
from clearformer.text.tokenizer import EncodedPair, Encoding, Tokenizer
from clearformer.text.unusable import UnusableTextError

TextOrPair = str | tuple[str, str]


class TextWindow(NamedTuple):
    """One input. Of its ids, `width` from `lead` on are pieces of the text, of which the first has number `begin`."""

    ids: list[int]
    lead: int
    begin: int
    width: int
    types: list[int] | None = None  # of a pair


class CutText(NamedTuple):
    """pieces: of the whole text; markers are among them only where one window has them all."""

    pieces: Encoding
    windows: list[TextWindow]


def cut_text(
    tokenizer: Tokenizer, given: TextOrPair, longest: int, number: int = 1, *, overlap: bool = False
) -> CutText:
    """Windows of at most `longest` pieces that overlap by half. number: of the text, for a refusal; overlap: let the
    types tell what both texts of a pair have.
    """
    if not all(part.strip() for part in ([given] if isinstance(given, str) else given)):
        raise UnusableTextError(number, "is empty; give some words")
    found: Encoding = tokenizer.encode(given) if isinstance(given, str) else tokenizer.encode_pair(*given)
    ids = list(found.ids)
    if not ids:
        raise UnusableTextError(number, "has nothing that the model reads")
    if len(ids) <= longest:
        types = None
        if isinstance(found, EncodedPair):
            types = pair_types(found, overlap=overlap, markers=list(tokenizer.special_ids.values()))
        return CutText(found, [TextWindow(ids, 0, 0, len(ids), types)])
    if not isinstance(given, str):
        raise UnusableTextError(number, f"has {len(ids)} tokens, and the model reads {longest}; shorten it")
    bare = tokenizer.encode(given, add_special=False)
    inner = list(bare.ids)
    around = len(ids) - len(inner)
    before = ids[: ids.index(inner[0])] if around else []
    after = ids[len(before) + len(inner) :]
    room = longest - around
    windows = []
    for start in range(0, max(1, len(inner) - room // 2), room // 2):
        taken = inner[start : start + room]
        windows.append(TextWindow([*before, *taken, *after], len(before), start, len(taken)))
    return CutText(bare, windows)
