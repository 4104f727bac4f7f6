"""The vocabulary of a published model that labels frames (Wav2Vec2CTCTokenizer), there and back: vocab.json.

One piece stands for the space between words, usually `|`, and the padding for nothing, the blank.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers

from clearformer.foundation import storage
from clearformer.interop.foreign_files import read_json
from clearformer.text.special import ROLES, SpecialTokens
from clearformer.text.tokenizer import Tokenizer

FILE = "vocab.json"
KIND = "Wav2Vec2CTCTokenizer"
_KNOWN = (None, KIND, "Wav2Vec2Tokenizer")
_SPELT = {
    "bos": "<s>",
    "eos": "</s>",
    "unk": "<unk>",
    "pad": "<pad>",
}  # in the order in which missing ones are numbered
_DELIMITER = "|"


def read(folder: Path, rows: int, facts: Mapping[str, Any]) -> tuple[Tokenizer | None, tuple[str, ...]]:
    """The tokenizer of a folder, or why it has none. rows: labels that the model has. facts: of its tokenizer."""
    path = folder / FILE
    if not path.is_file():
        return None, ("the folder has no vocabulary, so the model labels frames with numbers",)
    named = facts.get("tokenizer_class")
    if named not in _KNOWN:
        return None, (f"{FILE} is not used: {str(named)[:60]} writes in its own way, which is not known here",)
    if facts.get("do_lower_case"):
        raise ValueError(f"{folder}: do_lower_case writes other letters than {FILE} lists; set it to false")
    vocabulary = _numbered(path)
    spelt = {role: _piece(facts.get(f"{role}_token", usual)) for role, usual in _SPELT.items()}
    if spelt["pad"] not in vocabulary:
        raise ValueError(
            f"{path} has no piece {spelt['pad']!r}, which stands for nothing; name it as pad_token in "
            "tokenizer_config.json"
        )
    for piece in spelt.values():  # the published program numbers those that are missing behind the others
        if piece is not None and piece not in vocabulary and len(vocabulary) < rows:
            vocabulary[piece] = len(vocabulary)
    _check_rows(path, vocabulary, rows)
    special = SpecialTokens(**{role: piece for role, piece in spelt.items() if piece in vocabulary})
    return _tokenizer(vocabulary, special, facts), ()


def _tokenizer(vocabulary: dict[str, int], special: SpecialTokens, facts: Mapping[str, Any]) -> Tokenizer:
    """Characters, each with its number; a space is the piece that stands between words."""
    between = _piece(facts.get("word_delimiter_token", _DELIMITER)) or _DELIMITER
    written = facts.get("replace_word_delimiter_char", " ")
    unknown = {} if special.unk is None else {"unk_token": special.unk}
    engine = tokenizers.Tokenizer(models.WordLevel(vocabulary, **unknown))
    engine.normalizer = normalizers.Replace(" ", between)
    engine.pre_tokenizer = pre_tokenizers.Split(tokenizers.Regex(r"[\s\S]"), behavior="isolated")
    engine.decoder = decoders.Sequence(
        [decoders.Replace(between, written if isinstance(written, str) else " "), decoders.Fuse()]
    )
    marks = special.spellings()
    longer = [piece for piece in vocabulary if len(piece) > 1 and piece not in marks]
    engine.add_tokens([AddedToken(piece, lstrip=True, rstrip=True, normalized=False) for piece in longer])
    engine.add_special_tokens([AddedToken(piece, special=True, normalized=False) for piece in marks])
    return Tokenizer.from_engine(engine, kind="character", special=special, special_in_text=True)


def write(folder: Path, tokenizer: Tokenizer) -> None:
    """vocab.json and tokenizer_config.json. In a vocabulary learned here the space itself stands between words."""
    storage.write_json(folder / FILE, dict(sorted(tokenizer.pieces().items(), key=lambda one: one[1])))
    known = {f"{role}_token": tokenizer.special.spelling(role) for role in ROLES}
    roles = {key: value for key, value in known.items() if value is not None}
    storage.write_json(
        folder / "tokenizer_config.json",
        {"tokenizer_class": KIND, "do_lower_case": False, "word_delimiter_token": _between(tokenizer)} | roles,
    )


def _between(tokenizer: Tokenizer) -> str:
    """The piece that a space becomes."""
    ids = tokenizer.encode(" ", add_special=False).ids
    return tokenizer.piece(ids[0]) if ids else _DELIMITER


def _numbered(path: Path) -> dict[str, int]:
    """Pieces and their numbers, each number once."""
    found = read_json(path)
    for piece, number in found.items():
        if isinstance(number, Mapping):
            raise ValueError(f"{path} has a vocabulary for each of several languages; keep one of them")
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 1 << 24:
            raise ValueError(f"{path}: {piece[:60]!r} must have a whole number, not {str(number)[:60]!r}")
    if len(set(found.values())) < len(found):
        raise ValueError(f"{path} gives two pieces the same number, so a label would have two meanings")
    return found


def _check_rows(path: Path, vocabulary: Mapping[str, int], rows: int) -> None:
    unnamed = sorted(set(range(rows)) - set(vocabulary.values()))
    if unnamed:
        raise ValueError(f"{path} does not say what label {unnamed[0]} means, and the model has {rows} of them")


def _piece(value: Any) -> str | None:
    """A piece as files spell it: a word, a table with its content, or null."""
    spelt = value.get("content") if isinstance(value, Mapping) else value
    return spelt if isinstance(spelt, str) and spelt else None
