"""Translators among many languages (NLLB, M2M-100, mBART): one mark says what a text is in, another what to write.

A folder has hundreds of such marks and does not say which two are wanted, so whoever imports it does.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from clearformer.folder.preprocessing import Markers
from clearformer.text.language import code_of
from clearformer.text.tokenizer import Tokenizer

FAMILIES = ("m2m_100", "bart")  # whose vocabularies may have marks: mBART is a BART in another order
_MARK = re.compile(r"[a-z]{3}_[A-Z][a-z]{3}|[a-z]{2}_[A-Z]{2}|__[a-z]{2,3}__")  # NLLB, mBART, M2M-100
_SHOWN = 5


def language_marks(tokenizer: Tokenizer) -> dict[str, int]:
    """The marks of a vocabulary, with their ids."""
    return {piece: number for piece, number in tokenizer.pieces().items() if _MARK.fullmatch(piece)}


def between(
    markers: Markers | None,
    tokenizer: Tokenizer,
    languages: tuple[str, str] | None,
    folder: Path,
    facts: Mapping[str, Any],
) -> Markers | None:
    """The markers of a translator between two of its languages; those of one that has no marks stay as they are."""
    marks = language_marks(tokenizer)
    if not marks:
        if languages is not None:
            raise ValueError(f"{folder} has no marks of languages in its vocabulary; leave --from and --to out")
        return markers
    if languages is None:
        if markers is not None and markers.forced:  # its own settings say what to write
            return markers
        some = ", ".join(sorted(marks)[:_SHOWN])
        raise ValueError(
            f"{folder} translates among {len(marks)} languages; say between which two with --from and --to ({some}, …)"
        )
    source, target = (marks[_mark(one, marks, folder)] for one in languages)
    ends = (tokenizer.eos_id,)
    if facts.get("tokenizer_class") in ("MBartTokenizer", "MBartTokenizerFast"):  # the first mBART: marks at the end
        return Markers(after_source=(*ends, source), start=target)
    if markers is None:
        raise ValueError(f"{folder} does not say what its decoder begins with (decoder_start_token_id)")
    return replace(markers, before_source=(source,), after_source=ends, forced=(target,))


def spoken(languages: tuple[str, str]) -> dict[str, str]:
    """The same as provenance has it: en and de for eng_Latn and deu_Latn."""
    codes = [code_of(one.strip("_").partition("_")[0]) for one in languages]
    return {"source_language": codes[0], "target_language": codes[1]}


def _mark(wanted: str, marks: Mapping[str, int], folder: Path) -> str:
    """The mark itself, or the only one of that language: de for __de__, de_DE or deu_Latn."""
    if wanted in marks:
        return wanted
    code = code_of(wanted.strip("_").partition("_")[0])
    fitting = [one for one in marks if code_of(one.strip("_").partition("_")[0]) == code]
    if len(fitting) == 1:
        return fitting[0]
    near = sorted(fitting) or get_close_matches(wanted, marks, n=_SHOWN, cutoff=0.3) or sorted(marks)[:_SHOWN]
    several = "has several marks for" if fitting else "has no mark for"
    raise ValueError(f"{folder} {several} {wanted}; name one of its own: {', '.join(near)}")
