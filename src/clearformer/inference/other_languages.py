"""A text in another language than a translator reads stays as it is: its translation would be fluent nonsense.

The command line, Python and the studio say so in the same words. A model folder that does not say its source language
translates everything.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from clearformer.inference.translation_settings import Translation, untouched
from clearformer.inference.translator_choice import reader_of
from clearformer.text.language import Guess, guess_other, name_of

SIDES = "source", "target"


class OtherLanguageWarning(UserWarning):
    """Texts were left as they are, because they are in another language than the model reads."""


def remark_on(name: str, other: Guess, source: str) -> str:
    """What is said of a text. name: what to call it; source: the language that the model reads."""
    return f"{name} seems to be in {other}, but this model reads {name_of(source)}"


def remark_for(text: str, provenance: Mapping[str, Any], name: str = "the text") -> str | None:
    """What is said of a text that is surely in another language than a model reads, by its folder; else None."""
    source, target = (said if isinstance(said := provenance.get(f"{side}_language"), str) else None for side in SIDES)
    other = guess_other(text, source) if source is not None else None
    if other is None or source is None:
        return None
    reader = reader_of(other.language, target)
    return remark_on(name, other, source) + (f"; the model {reader.name} reads it" if reader else "")


def own_texts(
    texts: Sequence[str], provenance: Mapping[str, Any], *, any_language: bool
) -> tuple[list[str], dict[int, str]]:
    """The texts with those in another language blank, which cost nothing and keep the others' numbers, and the remarks
    on these by their place; the first remark is also given as a warning."""
    if any_language:
        return list(texts), {}
    found = ((place, remark_for(text, provenance, f"text {place + 1}")) for place, text in enumerate(texts))
    remarks = {place: remark for place, remark in found if remark is not None}
    if remarks:
        first, more = next(iter(remarks.values())), len(remarks) - 1
        also = f", and {more:,} more {'text is' if more == 1 else 'texts are'} in another language" if more else ""
        left = "they are left as they are" if more else "it is left as it is"
        told = f"{first}{also}; {left} (any_language=True translates every text)"
        warnings.warn(told, OtherLanguageWarning, stacklevel=4)  # at whoever called `translate`
    return ["" if place in remarks else text for place, text in enumerate(texts)], remarks


def put_back(
    found: list[list[Translation]], texts: Sequence[str], remarks: Mapping[int, str]
) -> list[list[Translation]]:
    """Translations with the texts that were left as they are in their places, each with the remark on it."""
    for place, remark in remarks.items():
        found[place] = [replace(untouched(texts[place]), remark=remark)]
    return found
