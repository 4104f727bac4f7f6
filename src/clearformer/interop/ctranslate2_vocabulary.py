"""The text side of a CTranslate2 folder. The engine takes pieces; how a text is cut stands in other files, or nowhere.

Three kinds of folder are known: our own export, one with a tokenizer.json, and what OPUS-MT models are converted to, a
list of pieces with SentencePiece models in the same folder or in the one around it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tokenizers import AddedToken

from clearformer.folder.description import open_folder
from clearformer.folder.preprocessing import Markers
from clearformer.interop import sentencepiece, tokenizer_files
from clearformer.interop.config_keys import Keys
from clearformer.interop.foreign_files import parse_json, read_bytes, read_text
from clearformer.model.config import ModelConfig
from clearformer.text.special import SpecialTokens
from clearformer.text.tokenizer import Kind, Tokenizer

# How the row from which a decoder begins may be called, where the engine has no piece for it.
_START = ("<pad>", "<s>", "<start>")
_DEFAULTS = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"} | dict.fromkeys(
    ("add_source_bos", "add_source_eos"), False
)


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """Both sides' tokenizers and what stands around a text; empty if nothing says how a text is cut."""

    source: Tokenizer | None = None
    target: Tokenizer | None = None
    markers: Markers | None = None
    notes: tuple[str, ...] = ()


def read(folder: Path, plain: Mapping[str, Any], config: ModelConfig, *, zero_start: bool) -> Pieces:
    """The tokenizers of a folder. zero_start: the last row of each table is the decoder's start."""
    if "model" in plain:  # our own export, which always begins with a token
        if zero_start:
            raise ValueError(
                f"{folder / 'config.json'} is of an export that begins with a token, but its model does not"
            )
        return _exported(folder, plain)
    keys = Keys(plain, str(folder / "config.json"), defaults=_DEFAULTS)
    if (folder / "tokenizer.json").is_file():
        spelt = {key: plain[key] for key in ("bos_token", "eos_token", "unk_token") if isinstance(plain.get(key), str)}
        source = tokenizer_files.from_definition(folder / "tokenizer.json", config.family, spelt)
        if config.front.kind == "sound":
            return Pieces(source=source)
        start = config.vocab_size - 1 if zero_start else source.id(_start(keys, plain))
        return Pieces(source=source, markers=_framed(keys, source, start))
    models = _models(folder)
    if models is None or config.front.kind == "sound":
        return Pieces(notes=("the folder has pieces but nothing that cuts text into them, so the model reads ids",))
    return _sentence_pieces(folder, models, keys, config, start=None if zero_start else _start(keys, plain))


def _exported(folder: Path, plain: Mapping[str, Any]) -> Pieces:
    for name in ("tokenizer.json", "target_tokenizer.json"):
        if (folder / name).is_file():
            tokenizer_files.checked(folder / name)
    kept = open_folder(folder).preprocessing
    given = plain.get("preprocessing", plain).get("markers")
    markers = None if given is None else replace(Markers(start=0), **{key: _tuple(given[key]) for key in given})
    return Pieces(source=kept.tokenizer, target=kept.target_tokenizer, markers=markers if kept.tokenizer else None)


def _sentence_pieces(
    folder: Path, models: tuple[Path, Path], keys: Keys, config: ModelConfig, *, start: str | None
) -> Pieces:
    """A list of pieces numbers what SentencePiece cuts. start: the piece from which the decoder begins, if it is one.

    One model often serves both sides, though it was made for the source: what the target has beside it is only read.
    """
    lists = [_listed(folder, side) for side in ("source", "target")]
    spelt = {role: keys.text(f"{role}_token") for role in ("eos", "unk")}
    sides, notes = [], list[str]()
    for path, pieces, rows in zip(models, lists, (config.vocab_size, config.target_vocab_size), strict=True):
        ids = {piece: number for number, piece in enumerate(pieces)}
        begins = start or next(name for name in _START if name not in ids)
        if start is None:
            ids[begins] = len(ids)
        if len(ids) != (rows or config.vocab_size):
            raise ValueError(f"{folder} lists {len(ids)} different pieces, but its model has {rows} rows")
        if absent := sorted(text for text in (*spelt.values(), begins) if text not in ids):
            raise ValueError(f"{folder} has no piece {absent[0]!r} in its list, which config.json names")
        sides.append(_numbered(path, ids, SpecialTokens(pad=begins, bos=begins, **spelt), notes))
    source, target = sides
    framed = _framed(keys, source, target.id(begins))
    return Pieces(source=source, target=target, markers=framed, notes=tuple(dict.fromkeys(notes)))


def _numbered(path: Path, ids: dict[str, int], special: SpecialTokens, notes: list[str]) -> Tokenizer:
    proto = sentencepiece.read_proto(path)
    if lacking := sum(piece.text not in ids for piece in proto.pieces if piece.kind == 1):
        notes.append(f"{lacking} pieces of {path.name} have no number; text with them is cut into smaller pieces")
    try:
        engine = sentencepiece.unigram_or_bpe(proto, ids)
    except ValueError as error:
        raise ValueError(f"{path} does not fit the list of pieces: {error}") from None
    codes = [piece for piece in ids if piece.startswith(">>") and piece.endswith("<<")]
    marks = [AddedToken(text, special=True, normalized=False) for text in special.spellings()]
    engine.add_special_tokens([*(AddedToken(code, normalized=False) for code in codes), *marks])
    kind: Kind = "unigram" if proto.algorithm == 1 else "bpe"
    return Tokenizer.from_engine(engine, kind=kind, special=special, special_in_text=True)


def _models(folder: Path) -> tuple[Path, Path] | None:
    """The SentencePiece models of both sides: in the folder, or one beside it, as Argos packs them."""
    if (folder / "source.spm").is_file() and (folder / "target.spm").is_file():
        return folder / "source.spm", folder / "target.spm"
    one = next((home / "sentencepiece.model" for home in (folder, folder.resolve().parent)
                if (home / "sentencepiece.model").is_file()), None)  # fmt: skip
    return None if one is None else (one, one)


def _listed(folder: Path, side: str) -> list[str]:
    """The pieces of one side, in the order of their numbers."""
    for name in (f"{side}_vocabulary", "shared_vocabulary"):
        if (folder / f"{name}.json").is_file():
            path = folder / f"{name}.json"
            pieces = parse_json(path, read_bytes(path))
            if not isinstance(pieces, list) or not all(isinstance(piece, str) for piece in pieces):
                raise ValueError(f"{path} must be a list of pieces")
            return pieces
        if (folder / f"{name}.txt").is_file():
            return read_text(folder / f"{name}.txt").removesuffix("\n").split("\n")
    raise ValueError(f"{folder} has no {side}_vocabulary.json and no shared_vocabulary.json; download it again")


def _start(keys: Keys, plain: Mapping[str, Any]) -> str:
    return keys.text("decoder_start_token" if "decoder_start_token" in plain else "bos_token")


def _framed(keys: Keys, source: Tokenizer, start: int) -> Markers:
    """The ids around a source and before a target, from config.json."""
    before = (source.id(keys.text("bos_token")),) if keys.flag("add_source_bos") else ()
    after = (source.id(keys.text("eos_token")),) if keys.flag("add_source_eos") else ()
    return Markers(before_source=before, after_source=after, start=start)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
