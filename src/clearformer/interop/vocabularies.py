"""The vocabulary of a published folder as one of our tokenizers, with exactly the ids that its model expects.

The first of these that the folder has is used: tokenizer.json, SentencePiece models, vocab.txt, vocab.json with
merges.txt. A vocabulary that cannot be reproduced exactly is not used, and the notes say why. Where a folder lists
whole tokens but does not say how a text is split into them, the caller may say it (`split`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, processors

from clearformer.folder.preprocessing import Markers
from clearformer.interop import frame_label_vocabulary, language_marks, sentencepiece
from clearformer.interop.foreign_files import first_line, read_json, read_text
from clearformer.interop.pair_vocabularies import clip_engine, in_small_letters, refuse_left_filling, siglip_engine
from clearformer.interop.piece_lists import merges, numbered
from clearformer.interop.special_pieces import SPELT, special_pieces
from clearformer.interop.split_patterns import danger
from clearformer.interop.tokenizer_files import from_definition
from clearformer.model.config import ModelConfig
from clearformer.text.special import SpecialTokens
from clearformer.text.tokenizer import Kind, Tokenizer

PIECE_FILES = ("spiece.model", "sentencepiece.bpe.model", "tokenizer.model", "spm.model")

_LIKE = {"umt5": "t5", "mixtral": "llama"}  # cut texts as that family does
_PREFIX_SPACE = ("roberta", "bart")
_BYTES = ("gpt2", "roberta", "bart", "whisper", "opt")  # cut words as GPT-2 does; Qwen and others have other patterns


@dataclass(frozen=True, kw_only=True)
class Texts:
    """How a model reads and writes text; empty if it does neither."""

    source: Tokenizer | None = None
    target: Tokenizer | None = None
    markers: Markers | None = None
    notes: tuple[str, ...] = ()


def read(
    folder: Path,
    plain: Mapping[str, Any],
    config: ModelConfig,
    *,
    split: str | None = None,
    languages: tuple[str, str] | None = None,
) -> Texts:
    """The tokenizers of a folder, and the ids around a text.

    split: a pattern that finds the tokens of vocab.txt. languages: from which to which a translator among many goes.
    """
    if config.front.kind == "patches" or (config.front.kind == "samples" and config.head.kind == "states"):
        return Texts()
    facts = _facts(folder)
    if split is None:
        source, target, notes = _find(folder, config, facts)
    else:
        source, target, notes = _whole_tokens(folder, split, facts), None, ()
    if source is None:
        return Texts(notes=notes)
    _fits(source, config.vocab_size, folder)
    if target is not None:
        _fits(target, config.target_vocab_size or config.vocab_size, folder)
    markers = _markers(folder, plain, source, config) if config.shape == "encoder-decoder" else None
    if languages is not None or config.family in language_marks.FAMILIES:
        markers = language_marks.between(markers, source, languages, folder, facts)
    return Texts(source=source, target=target, markers=markers, notes=notes)


def _find(
    folder: Path, config: ModelConfig, facts: Mapping[str, Any]
) -> tuple[Tokenizer | None, Tokenizer | None, tuple[str, ...]]:
    family = _LIKE.get(config.family, config.family)
    if config.front.kind == "samples":
        read, notes = frame_label_vocabulary.read(folder, config.vocab_size, facts)
        return read, None, notes
    if family == "siglip":
        refuse_left_filling(folder, facts)
        if (folder / PIECE_FILES[0]).is_file():  # which its program reads, whatever lies beside it
            return _siglip(folder / PIECE_FILES[0], facts), None, ()
    if (folder / "tokenizer.json").is_file():
        return _defined(folder, family, facts), _target(folder, family, facts), ()
    if (folder / "source.spm").is_file():
        return _marian(folder, facts)
    for name in PIECE_FILES:
        if (folder / name).is_file():
            return _pieces(folder / name, family, facts), None, ()
    if (folder / "vocab.txt").is_file() and family in ("bert", "distilbert", "electra"):
        return _wordpiece(folder, facts), None, ()
    if (folder / "vocab.json").is_file() and (folder / "merges.txt").is_file():
        if family == "clip":
            return _clip(folder, facts), None, ()
        if family in _BYTES or str(facts.get("tokenizer_class", "")).startswith("GPT2Tokenizer"):
            return _byte_level(folder, family, facts), None, ()
        return (
            None,
            None,
            (f"vocab.json is not used: {family} cuts words in its own way, which tokenizer.json would say",),
        )
    if (folder / "vocab.txt").is_file():
        named = facts.get("tokenizer_class")
        said = f" ({named} does not use such a file)" if isinstance(named, str) else ""
        told = f"vocab.txt is not used: the folder does not say how {family} splits text{said}; say it with --split"
        return None, None, (told,)
    lonely = next((name for name in ("vocab.json", "merges.txt") if (folder / name).is_file()), None)
    if lonely is not None:
        beside = {"vocab.json": "merges.txt", "merges.txt": "vocab.json"}[lonely]
        told = f"{lonely} is not used: it needs {beside} beside it, or a tokenizer.json, so the model reads ids"
        return None, None, (told,)
    return None, None, ("the folder has no vocabulary, so the model reads ids, not text",)


def _defined(folder: Path, family: str, facts: Mapping[str, Any]) -> Tokenizer:
    """tokenizer.json. One class of theirs makes letters small, which the file does not say."""
    found = from_definition(folder / "tokenizer.json", family, facts)
    return in_small_letters(found) if facts.get("tokenizer_class") == "Siglip2Tokenizer" else found


def _target(folder: Path, family: str, facts: Mapping[str, Any]) -> Tokenizer | None:
    """The target side's own vocabulary, which our exports write beside the source's."""
    path = folder / "target_tokenizer.json"
    return from_definition(path, family, facts) if path.is_file() else None


def _wordpiece(folder: Path, facts: Mapping[str, Any]) -> Tokenizer:
    """BERT's vocab.txt: one piece per line, and the line number is the id."""
    path = folder / "vocab.txt"
    vocabulary: dict[str, int] = {}
    for number, line in enumerate(read_text(path).removesuffix("\n").split("\n")):
        vocabulary.setdefault(line.rstrip("\r"), number)
    lower = _flag(facts, "do_lower_case", True)
    accents = facts.get("strip_accents")
    chinese = _flag(facts, "tokenize_chinese_chars", True)
    if "[UNK]" not in vocabulary:
        raise ValueError(f"{path} has no line for [UNK]; it is not a BERT vocabulary")
    engine = tokenizers.Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    engine.normalizer = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=chinese,
        strip_accents=accents if isinstance(accents, bool) else None,
        lowercase=lower,
    )
    engine.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    engine.decoder = decoders.WordPiece(prefix="##")
    special = special_pieces(engine, "bert", facts)
    if special.cls is None or special.sep is None:
        raise ValueError(f"{path} has no line for [CLS] or [SEP]; it is not a BERT vocabulary")
    return _finish(engine, "wordpiece", special, first=special.cls, last=special.sep, facts=facts)


def _whole_tokens(folder: Path, split: str, facts: Mapping[str, Any]) -> Tokenizer:
    """A vocab.txt of whole tokens, such as the atoms of a chemical formula, that a pattern finds in a text."""
    path = folder / "vocab.txt"
    if not path.is_file():
        raise ValueError(f"{path} does not exist, and a pattern alone is no vocabulary; leave --split out")
    if (reason := danger(split)) is not None:
        raise ValueError(f"the pattern {split[:60]!r} {reason}, so a text could take forever; refused")
    lines = [line.rstrip("\r") for line in read_text(path).removesuffix("\n").split("\n")]
    vocabulary = {line: number for number, line in reversed(list(enumerate(lines)))}
    named = facts.get("unk_token")
    spelt = named.get("content") if isinstance(named, Mapping) else named
    unknown = next((piece for piece in (spelt, "[UNK]", "<unk>") if piece in vocabulary), None)
    if not isinstance(unknown, str):
        raise ValueError(f"{path} has no line for [UNK] or <unk>, so a token that is not listed would have no id")
    engine = tokenizers.Tokenizer(models.WordLevel(vocabulary, unk_token=unknown))
    try:
        engine.pre_tokenizer = pre_tokenizers.Split(tokenizers.Regex(split), behavior="isolated")
    except Exception as error:
        raise ValueError(f"{split!r} is not a pattern: {first_line(error)}") from None
    engine.decoder = decoders.Fuse()
    special = special_pieces(engine, "bert", {"unk_token": unknown} | dict(facts))
    return _finish(engine, "character", special, first=special.cls, last=special.sep, facts=facts)


def _byte_level(folder: Path, family: str, facts: Mapping[str, Any]) -> Tokenizer:
    """GPT-2's vocab.json and merges.txt. RoBERTa and BART put <s> and </s> around a text."""
    vocabulary = numbered(folder / "vocab.json")
    joined = merges(folder / "merges.txt", vocabulary)
    engine = tokenizers.Tokenizer(models.BPE(vocab=vocabulary, merges=joined))
    space = _flag(facts, "add_prefix_space", False)
    engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=space)
    engine.decoder = decoders.ByteLevel()
    special = special_pieces(engine, family, facts)
    if family in _PREFIX_SPACE and special.cls and special.sep:
        engine.post_processor = processors.RobertaProcessing(
            (special.sep, _id(engine, special.sep)),
            (special.cls, _id(engine, special.cls)),
            trim_offsets=True,
            add_prefix_space=space,
        )
    first = special.bos if family == "opt" and _flag(facts, "add_bos_token", True) else None
    return _finish(engine, "bpe", special, first=first, facts=facts)


def _clip(folder: Path, facts: Mapping[str, Any]) -> Tokenizer:
    """CLIP's vocab.json and merges.txt."""
    vocabulary = numbered(folder / "vocab.json")
    engine = clip_engine(vocabulary, merges(folder / "merges.txt", vocabulary), SPELT["clip"]["unk"])
    special = special_pieces(engine, "clip", facts)
    if special.bos is None or special.eos is None:
        raise ValueError(f"{folder / 'vocab.json'} has no pieces for the beginning and the end of a text")
    return _finish(engine, "bpe", special, first=special.bos, last=special.eos, facts=facts)


def _siglip(path: Path, facts: Mapping[str, Any]) -> Tokenizer:
    """SigLIP's SentencePiece model."""
    try:
        engine = siglip_engine(sentencepiece.read_proto(path), small=_flag(facts, "do_lower_case", True))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    special = special_pieces(engine, "siglip", facts)
    if special.eos is None or special.pad is None:
        raise ValueError(f"{path} has no piece that ends a text or fills up a row")
    return _finish(engine, "unigram", special, last=special.eos, facts=facts)


def _pieces(path: Path, family: str, facts: Mapping[str, Any]) -> Tokenizer:
    """A SentencePiece model on its own: T5, ALBERT, Llama, DeBERTa. XLM-R and mBART shift its ids, which is not
    supported."""
    if family not in ("t5", "albert", "llama", "deberta"):
        raise ValueError(f"{path}: {family} assigns other ids to its pieces than the file does; add a tokenizer.json")
    proto = sentencepiece.read_proto(path)
    engine = sentencepiece.unigram_or_bpe(proto)
    if family == "albert":
        engine.normalizer = _albert_preparation(engine.normalizer, facts)
    if family == "deberta":
        _deberta_preparation(engine, path, facts)
    if family == "t5":
        extra = facts.get("extra_ids", 100)
        if isinstance(extra, bool) or not isinstance(extra, int) or not 0 <= extra <= 1000:
            raise ValueError(f"{path.parent}: extra_ids must be a whole number up to 1000, not {extra!r}")
        engine.add_special_tokens(
            [AddedToken(f"<extra_id_{number}>", normalized=False) for number in reversed(range(extra))]
        )
    special = special_pieces(engine, family, facts)
    first = {"albert": special.cls, "deberta": special.cls, "llama": special.bos}.get(family)
    last = {"albert": special.sep, "deberta": special.sep, "t5": special.eos}.get(family)
    kind: Kind = "unigram" if proto.algorithm == 1 else "bpe"
    return _finish(engine, kind, special, first=first, last=last, facts=facts)


def _albert_preparation(after: Any, facts: Mapping[str, Any]) -> normalizers.Normalizer:
    """ALBERT normalises quotes, accents and capitals before the model file's own normalisation."""
    steps: list[normalizers.Normalizer] = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    if not _flag(facts, "keep_accents", False):
        steps += [normalizers.NFKD(), normalizers.StripAccents()]
    if _flag(facts, "do_lower_case", True):
        steps.append(normalizers.Lowercase())
    return normalizers.Sequence([*steps, after] if after is not None else steps)


def _deberta_preparation(engine: tokenizers.Tokenizer, path: Path, facts: Mapping[str, Any]) -> None:
    """DeBERTa may fold capitals and cut at punctuation before the model file does its part, and adds its mask."""
    if _flag(facts, "do_lower_case", False):
        after = engine.normalizer
        engine.normalizer = normalizers.Sequence([normalizers.Lowercase(), *([] if after is None else [after])])
    if _flag(facts, "split_by_punct", False):
        cuts = [pre_tokenizers.Punctuation(behavior="isolated"), engine.pre_tokenizer]
        engine.pre_tokenizer = pre_tokenizers.Sequence(cuts)
    for piece in ("[PAD]", "[UNK]", "[CLS]", "[SEP]"):
        if engine.token_to_id(piece) is None:
            raise ValueError(f"{path} has no piece {piece}; it is not a vocabulary of DeBERTa")
    engine.add_special_tokens([AddedToken("[MASK]", special=True, normalized=False)])


def _marian(folder: Path, facts: Mapping[str, Any]) -> tuple[Tokenizer, Tokenizer, tuple[str, ...]]:
    """Marian: each side has its own SentencePiece model, and vocab.json has the ids of both."""
    if _flag(facts, "separate_vocabs", False):
        raise ValueError(f"{folder}: separate_vocabs gives each side its own ids, which is not supported")
    ids = numbered(folder / "vocab.json")
    sides, notes = [], []
    for name in ("source.spm", "target.spm"):
        if not (folder / name).is_file():
            raise ValueError(f"{folder / name} is missing; Marian needs one model per side")
        proto = sentencepiece.read_proto(folder / name)
        if proto.algorithm != 1:
            raise ValueError(f"{folder / name} is not a unigram model, which Marian's are")
        lacking = sum(piece.text not in ids for piece in proto.pieces if piece.kind == 1)
        if lacking:
            notes.append(
                f"{lacking} pieces of {name} are not in vocab.json; text with them is split into smaller pieces"
            )
        try:
            engine = sentencepiece.unigram_or_bpe(proto, ids)
        except ValueError as error:
            raise ValueError(f"{folder}: {error}") from None
        codes = [piece for piece in ids if piece.startswith(">>") and piece.endswith("<<")]
        engine.add_special_tokens([AddedToken(code, normalized=False) for code in codes])
        special = special_pieces(engine, "marian", facts)
        sides.append(_finish(engine, "unigram", special, last=special.eos, facts=facts))
    notes.append("punctuation is not normalised first, as the published program does where sacremoses is installed")
    return sides[0], sides[1], tuple(notes)


def _finish(
    engine: tokenizers.Tokenizer,
    kind: Kind,
    special: SpecialTokens,
    *,
    first: str | None = None,
    last: str | None = None,
    facts: Mapping[str, Any],
) -> Tokenizer:
    """Put the markers around a text, and tell the library which pieces are special."""
    marks = [(piece, _id(engine, piece)) for piece in (first, last) if piece is not None]
    if marks:
        single = [piece for piece in (first, "$A", last) if piece is not None]
        pair = [*single, *(f"{piece}:1" for piece in ("$B", last) if piece is not None)]
        engine.post_processor = processors.TemplateProcessing(
            single=" ".join(single), pair=" ".join(pair), special_tokens=marks
        )
    spelt = [
        AddedToken(piece, special=True, normalized=False, lstrip=piece == "<mask>") for piece in special.spellings()
    ]
    engine.add_special_tokens(spelt)
    added = facts.get("added_tokens")
    if isinstance(added, Sequence):
        engine.add_special_tokens([AddedToken(str(piece), normalized=False) for piece in added])
    return Tokenizer.from_engine(engine, kind=kind, special=special, special_in_text=True)


def _facts(folder: Path) -> dict[str, Any]:
    """tokenizer_config.json and special_tokens_map.json together, where they exist."""
    facts: dict[str, Any] = {}
    for name in ("special_tokens_map.json", "tokenizer_config.json"):
        if (folder / name).is_file():
            facts |= {key: value for key, value in read_json(folder / name).items() if value is not None}
    if facts.get("auto_map"):
        raise ValueError(
            f"{folder / 'tokenizer_config.json'}: auto_map asks to run its own code, and an import never runs any"
        )
    return facts


def _markers(folder: Path, plain: Mapping[str, Any], source: Tokenizer, config: ModelConfig) -> Markers | None:
    """The ids around a source and before a target, from the vocabulary and the generation settings."""
    settings = dict(plain)
    if (folder / "generation_config.json").is_file():
        settings |= {
            key: value for key, value in read_json(folder / "generation_config.json").items() if value is not None
        }
    start = settings.get("decoder_start_token_id", settings.get("pad_token_id") if config.family == "t5" else None)
    if start is None:
        return None
    limit = config.target_vocab_size or config.vocab_size
    forced = settings.get("forced_bos_token_id")
    for name, number in (("decoder_start_token_id", start), ("forced_bos_token_id", forced)):
        if number is not None and not (isinstance(number, int) and 0 <= number < limit):
            raise ValueError(f"{folder}: {name} must be an id of the vocabulary, not {number!r}")
    before, after = surroundings(source)
    return Markers(
        before_source=before, after_source=after, start=int(start), forced=() if forced is None else (int(forced),)
    )


def surroundings(tokenizer: Tokenizer) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ids that a tokenizer puts before and after a text."""
    inner = tokenizer.encode("a", add_special=False).ids
    outer = tokenizer.encode("a").ids
    for start in range(len(outer) - len(inner) + 1):
        if outer[start : start + len(inner)] == inner:
            return outer[:start], outer[start + len(inner) :]
    return (), ()


def _fits(tokenizer: Tokenizer, rows: int, folder: Path) -> None:
    if tokenizer.vocab_size > rows:
        raise ValueError(
            f"{folder}: the vocabulary has ids up to {tokenizer.vocab_size - 1}, but the model has {rows} rows; "
            "they do not belong together"
        )


def _id(engine: tokenizers.Tokenizer, piece: str) -> int:
    number = engine.token_to_id(piece)
    if number is None:
        raise ValueError(f"the vocabulary has no piece {piece!r}")
    return number


def _flag(facts: Mapping[str, Any], key: str, default: bool) -> bool:
    value = facts.get(key, default)
    return value if isinstance(value, bool) else default
