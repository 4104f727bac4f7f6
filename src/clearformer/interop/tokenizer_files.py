"""A foreign tokenizer.json of the `tokenizers` library: checked, tried in a separate process, then opened.

The library builds whatever the file describes. An id of two billion makes it allocate as many entries, and ten
replacements of a letter by ten letters turn it into gigabytes; either ends the process that opens the file. What can be
seen in the file is refused at once, and `tokenizer_probe.py` tries the rest with bounded memory and time.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tokenizers

from clearformer.interop.config_keys import shown
from clearformer.interop.foreign_files import first_line, read_json
from clearformer.interop.special_pieces import special_pieces
from clearformer.interop.split_patterns import check_patterns
from clearformer.text.tokenizer import Kind, Tokenizer

KINDS: dict[str, Kind] = {"BPE": "bpe", "WordPiece": "wordpiece", "Unigram": "unigram", "WordLevel": "character"}
PROGRAM = Path(__file__).parent / "tokenizer_probe.py"
_MOST_IDS = 1 << 24
_MOST_GROWTH = 1000  # times that all replacements together may lengthen a text; published vocabularies stay below ten
_MEMORY, _SECONDS = 1 << 30, 20  # for a small file; larger ones get more
_TEXTS = (
    "Two dogs play in the snow.",
    "他在河边看见一只白色的鸟。",
    "É e\u0301 ﬁ ½ 🙂 \t\u00a0 ``''",
    "a" * 1000,
    " " * 1000,
)


def from_definition(path: Path, family: str, facts: Mapping[str, Any]) -> Tokenizer:
    """The tokenizer of a file."""
    kind, spelt = checked(path)
    try:
        engine = tokenizers.Tokenizer.from_str(spelt)
        special = special_pieces(engine, family, facts)
        return Tokenizer.from_engine(engine, kind=kind, special=special, special_in_text=True)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} cannot be used: {first_line(error)}") from None


def checked(path: Path) -> tuple[Kind, str]:
    """The kind of a definition and its text, if it can be opened without harm."""
    definition = read_json(path)
    try:
        kind = KINDS[_model_type(definition)]
        check_patterns(definition)
        _check_ids(definition)
        _check_growth(definition)
        # Truncation and padding are the caller's choice, not a property of the vocabulary.
        definition["truncation"] = definition["padding"] = None
        spelt = json.dumps(definition, ensure_ascii=False)
        _try(spelt, [*_TEXTS, *(pattern * 9 for pattern, _ in _replacements(definition) if pattern)])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{path} cannot be used: {first_line(error)}") from None
    return kind, spelt


def _model_type(definition: Mapping[str, Any]) -> str:
    model = definition.get("model")
    if not isinstance(model, Mapping) or not isinstance(model.get("vocab"), Mapping | list):
        raise ValueError("it has no model with a vocabulary")
    found = model.get("type") or ("BPE" if "merges" in model else "WordPiece")
    if found not in KINDS:
        raise ValueError(f"its model is of the unknown type {found!r}")
    return str(found)


def _check_ids(definition: Mapping[str, Any]) -> None:
    """The library allocates an entry for every number up to the largest."""
    vocabulary, added = definition["model"]["vocab"], definition.get("added_tokens") or []
    numbers = list(vocabulary.values()) if isinstance(vocabulary, Mapping) else []
    numbers += [token.get("id") for token in added if isinstance(token, Mapping)]
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < _MOST_IDS:
            raise ValueError(f"a token has the id {shown(number)}, and ids are whole numbers below {_MOST_IDS:,}")


def _check_growth(definition: Mapping[str, Any]) -> None:
    """Each replacement works on what the one before it made, so their growths multiply."""
    growth = 1.0
    for pattern, content in _replacements(definition):
        growth *= max(1.0, len(content) / max(1, len(pattern)))
    if growth > _MOST_GROWTH:
        raise ValueError(f"its replacements could make a text {growth:.0e} times as long")


def _replacements(value: Any) -> Iterator[tuple[str, str]]:
    """What is replaced and by what; a regular expression may match a single character."""
    if isinstance(value, Mapping):
        if value.get("type") == "Replace" and isinstance(value.get("content"), str):
            pattern = value.get("pattern")
            exact = pattern.get("String") if isinstance(pattern, Mapping) else None
            yield exact if isinstance(exact, str) else "", value["content"]
        elif value.get("type") == "Prepend" and isinstance(value.get("prepend"), str):
            yield "", value["prepend"]
        for key, inner in value.items():
            if key not in ("vocab", "merges", "added_tokens"):
                yield from _replacements(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _replacements(inner)


def _try(spelt: str, texts: list[str]) -> None:
    """Open the definition and encode texts in a process whose memory and time are bounded by its size."""
    size = len(spelt.encode("utf-8"))
    memory, seconds = _MEMORY + 64 * size, _SECONDS + (size >> 20)
    with tempfile.TemporaryDirectory(prefix="clearformer-") as aside:
        file = Path(aside) / "tokenizer.json"
        file.write_text(spelt, encoding="utf-8")
        try:
            done = subprocess.run(
                [sys.executable, "-P", str(PROGRAM), str(file), str(memory), str(seconds)],
                input="".join(json.dumps(text) + "\n" for text in texts),
                capture_output=True,
                text=True,
                timeout=2 * seconds,
                cwd=aside,
                env={"PYTHONPATH": os.pathsep.join(sys.path), "RAYON_NUM_THREADS": "1"},
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise ValueError("it takes longer than a vocabulary of its size can need") from None
    if done.returncode:
        said = done.stderr.strip().splitlines()
        if done.returncode == 1 and said:
            raise ValueError(f"the tokenizers library refuses it ({said[-1][:200]})")
        raise ValueError("it takes more memory or time than a vocabulary of its size can need")
