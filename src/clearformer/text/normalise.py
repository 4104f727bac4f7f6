"""What may be done to text before it is cut into pieces. The default is nothing: then the text comes back exactly.

Each choice loses something on purpose (case, how an accent was typed), so a tokenizer that uses one promises
`decode(encode(s)) == normalise(s)` instead of `== s`. The functions call the same code that runs inside the saved
tokenizer.json: there is one definition of "lower case", not Python's and the file's.
"""

from collections.abc import Sequence
from typing import Literal, get_args

from tokenizers import normalizers

Normalisation = Literal["nfc", "nfkc", "lowercase"]

_STEPS: dict[Normalisation, normalizers.Normalizer] = {
    "nfc": normalizers.NFC(),
    "nfkc": normalizers.NFKC(),
    "lowercase": normalizers.Lowercase(),
}


def nfc(text: str) -> str:
    """One way to write each letter: e + combining acute becomes é. Looks the same, compares equal."""
    return _normalised(text, "nfc")


def nfkc(text: str) -> str:
    """NFC, and compatibility forms become plain ones: ﬁ -> fi, Ａ -> A, ² -> 2. Loses typography."""
    return _normalised(text, "nfkc")


def lowercase(text: str) -> str:
    """Capital letters become small ones, character by character."""
    return _normalised(text, "lowercase")


def normalise(text: str, choices: Sequence[Normalisation]) -> str:
    """Apply the chosen steps in the order given."""
    for choice in choices:
        text = _normalised(text, choice)
    return text


def check_choices(choices: Sequence[str]) -> None:
    """Refuse a name that is not a normalisation, and name those that are."""
    known = get_args(Normalisation)
    for choice in choices:
        if choice not in known:
            raise ValueError(f"unknown normalisation {choice!r}; choose from {', '.join(known)}")


def steps(choices: Sequence[Normalisation]) -> list[normalizers.Normalizer]:
    """The same choices as parts of a saved tokenizer."""
    check_choices(choices)
    return [_STEPS[choice] for choice in choices]


def _normalised(text: str, choice: Normalisation) -> str:
    result: str = _STEPS[choice].normalize_str(text)
    return result
