"""Two texts as one argument or one line, for models that compare them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clearformer.inference.text_windows import TextOrPair

TYPED_MARK = "|||"
MARKS = ("\t", TYPED_MARK)  # a table's own, and one that can be typed


def compares_texts(provenance: Mapping[str, Any]) -> bool:
    """Whether a model was trained here on pairs of texts."""
    columns = provenance.get("columns")
    return isinstance(columns, Mapping) and bool(columns.get("second"))


def as_pairs(texts: Sequence[str]) -> "list[TextOrPair]":
    """Each text as the two that it holds; one that holds only one is refused by its number."""
    return [_pair(text, number) for number, text in enumerate(texts, start=1)]


def _pair(text: str, number: int) -> tuple[str, str]:
    from clearformer.text.unusable import UnusableTextError

    for mark in MARKS:
        first, found, second = text.partition(mark)
        if found and first.strip() and second.strip() and mark not in second:
            return first.strip(), second.strip()
    raise UnusableTextError(number, "must be two texts with a tab or ||| between them: this model compares texts")
