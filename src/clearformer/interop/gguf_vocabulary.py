"""The vocabulary inside a GGUF file: which kind it is, and how it cuts a text into words before anything else.

A file names the way of cutting instead of describing it. Those whose published tokenizer.json is known are written down
here; another name is said, and its vocabulary is not used, because a near guess would read other tokens than the model
learned.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import tokenizers
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors

from clearformer.interop import sentencepiece
from clearformer.interop.sentencepiece import Piece, Proto
from clearformer.text.special import SpecialTokens
from clearformer.text.tokenizer import Tokenizer

_NORMAL, _CONTROL, _USER = 1, 3, 4  # kinds of pieces
_WORD_BEGINS = "▁"  # before the pieces of WordPiece that begin a word; the others have lost their ##


class _GgufFacts(Protocol):
    """What is needed of a GGUF file."""

    path: Path
    facts: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Words:
    """How a byte-level vocabulary cuts a text into words before merging. composed: letters and accents become one."""

    cut: tuple[Any, ...]
    composed: bool = False

    @staticmethod
    def by(*patterns: str, composed: bool = False) -> "Words":
        """Cut by patterns, one after the other."""
        cuts = [pre_tokenizers.Split(Regex(pattern), behavior="isolated") for pattern in patterns]
        return Words(cut=(*cuts, _BYTES), composed=composed)


_BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
_GPT2 = pre_tokenizers.ByteLevel(add_prefix_space=False)
_SINGLE_DIGITS = Words(cut=(pre_tokenizers.Digits(individual_digits=True), _GPT2))
_FALCON = (
    pre_tokenizers.Punctuation(behavior="contiguous"),
    _GPT2,
    pre_tokenizers.Digits(individual_digits=False),
    pre_tokenizers.Split(Regex("[0-9][0-9][0-9]"), behavior="isolated"),
)


def _modern(digits: str) -> str:
    """The pattern that began with GPT-4: contractions, words with one sign before them, digits, signs, spaces."""
    return (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|" + digits + r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
        r"|\s+(?!\S)|\s+"
    )


WORDS: dict[str, Words] = {
    "gpt-2": Words(cut=(_GPT2,)),
    "mpt": Words(cut=(_GPT2,), composed=True),
    "smollm": _SINGLE_DIGITS,
    "starcoder": _SINGLE_DIGITS,
    "refact": _SINGLE_DIGITS,
    "command-r": Words(cut=_SINGLE_DIGITS.cut, composed=True),
    "llama-bpe": Words.by(_modern(r"\p{N}{1,3}")),
    "qwen2": Words.by(_modern(r"\p{N}"), composed=True),
    "falcon": Words(cut=_FALCON),
    "deepseek-coder": Words.by(
        r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+", r"\p{N}"
    ),
}


def read(file: _GgufFacts, size: int) -> tuple[Tokenizer | None, tuple[str, ...]]:
    """The vocabulary inside the file; one that cannot be reproduced exactly is not used, and the notes say why."""
    facts, kind = file.facts, file.facts.get("tokenizer.ggml.model")
    pieces = facts.get("tokenizer.ggml.tokens")
    if kind is None or pieces is None:
        return None, ("the file has no vocabulary, so the model reads ids, not text",)
    if not isinstance(pieces, list) or len(pieces) != size or len(set(pieces)) != len(pieces):
        raise ValueError(f"{file.path}: its vocabulary does not list {size} different pieces")
    kinds = facts.get("tokenizer.ggml.token_type") or [_NORMAL] * len(pieces)
    if len(kinds) != len(pieces):
        raise ValueError(f"{file.path}: its vocabulary has {len(pieces)} pieces, but kinds for {len(kinds)}")
    special = _special(file, pieces)
    before = facts.get("tokenizer.ggml.pre", "gpt-2")
    if kind == "gpt2" and before not in WORDS:
        return None, (
            f"its vocabulary is not used: how {before!r} splits text into words is not known here; known are "
            f"{', '.join(WORDS)}",
        )
    if kind == "bert":
        engine = _wordpiece(file, pieces, special)
        return Tokenizer.from_engine(engine, kind="wordpiece", special=special, special_in_text=True), ()
    if kind == "gpt2":
        engine = _byte_level(file, pieces, kinds, WORDS[before])
    elif kind == "llama":
        engine = sentencepiece.unigram_or_bpe(_proto(file, pieces, kinds))
    else:
        return None, (f"its vocabulary is not used: vocabularies of the kind {kind!r} are not known here",)
    return Tokenizer.from_engine(engine, kind="bpe", special=special, special_in_text=True), ()


_ROLES = {"bos": ("bos",), "eos": ("eos",), "unk": ("unknown",), "pad": ("padding",)}
_OF_BERT = {  # the file's words are misspelt by the format itself
    "cls": ("cls", "bos"), "sep": ("seperator",), "unk": ("unknown",), "pad": ("padding",), "mask": ("mask",)
}  # fmt: skip


def _special(file: _GgufFacts, pieces: list[str]) -> SpecialTokens:
    """By the numbers that the file gives; BERT's have fixed names where it gives none."""
    is_bert, spelt = file.facts.get("tokenizer.ggml.model") == "bert", {}
    for role, words in (_OF_BERT if is_bert else _ROLES).items():
        given = {word: file.facts.get(f"tokenizer.ggml.{word}_token_id") for word in words}
        word, number = next(((word, number) for word, number in given.items() if number is not None), ("", None))
        if number is None:
            if is_bert and f"[{role.upper()}]" in pieces:
                spelt[role] = f"[{role.upper()}]"
            continue
        if not isinstance(number, int) or not 0 <= number < len(pieces):
            raise ValueError(f"{file.path}: its {word} token has the number {number!r}, which no piece has")
        spelt[role] = pieces[number]
    return SpecialTokens(**spelt)


def _byte_level(file: _GgufFacts, pieces: list[str], kinds: list[int], words: Words) -> tokenizers.Tokenizer:
    merges = file.facts.get("tokenizer.ggml.merges")
    if not isinstance(merges, list):
        raise ValueError(f"{file.path} has a vocabulary of bytes without merges; download it again")
    pairs_ = [_merge(file, merge) for merge in merges]
    numbered = {piece: number for number, piece in enumerate(pieces)}
    try:
        engine = tokenizers.Tokenizer(models.BPE(vocab=numbered, merges=pairs_))
    except Exception as error:
        raise ValueError(
            f"{file.path}: its merges use other pieces than its vocabulary ({error}); download it again"
        ) from None
    engine.pre_tokenizer = pre_tokenizers.Sequence(list(words.cut))
    if words.composed:
        engine.normalizer = normalizers.NFC()
    engine.decoder = decoders.ByteLevel()
    marked = [(piece, kind) for piece, kind in zip(pieces, kinds, strict=True) if kind in (_CONTROL, _USER)]
    engine.add_tokens([AddedToken(piece, special=kind == _CONTROL, normalized=False) for piece, kind in marked])
    return engine


def _wordpiece(file: _GgufFacts, pieces: list[str], special: SpecialTokens) -> tokenizers.Tokenizer:
    """BERT's: a vocabulary without capital letters is one of texts without them."""
    if special.unk is None or special.cls is None or special.sep is None:
        raise ValueError(
            f"{file.path} has a vocabulary of BERT's kind without [CLS], [SEP] or [UNK]; download it again"
        )
    named = {piece for piece in pieces if piece.startswith("[") and piece.endswith("]")}
    spelt = [_spelt(piece) if piece not in named else piece for piece in pieces]
    lower = not any(piece != piece.lower() for piece in spelt if piece not in named)
    numbered = {piece: number for number, piece in enumerate(spelt)}
    if len(numbered) != len(pieces):
        raise ValueError(f"{file.path}: two pieces of its vocabulary are the same; download it again")
    engine = tokenizers.Tokenizer(models.WordPiece(numbered, unk_token=special.unk, max_input_chars_per_word=100))
    engine.normalizer = normalizers.BertNormalizer(lowercase=lower)
    engine.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    engine.decoder = decoders.WordPiece(prefix="##")
    first, last = special.cls, special.sep
    engine.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {last} $B:1 {last}:1",
        special_tokens=[(first, numbered[first]), (last, numbered[last])],
    )
    marked = (special.pad, special.unk, first, last, special.mask)
    engine.add_special_tokens([piece for piece in marked if piece is not None])
    return engine


def _spelt(piece: str) -> str:
    """As vocab.txt has it."""
    return piece[1:] if piece.startswith(_WORD_BEGINS) else f"##{piece}"


def _merge(file: _GgufFacts, merge: str) -> tuple[str, str]:
    left, _, right = merge.partition(" ")
    if not left or not right:
        raise ValueError(f"{file.path}: {merge!r} is not a merge of two pieces; download it again")
    return left, right


def _proto(file: _GgufFacts, pieces: list[str], kinds: list[int]) -> Proto:
    scores = file.facts.get("tokenizer.ggml.scores")
    if not isinstance(scores, list) or len(scores) != len(pieces):
        raise ValueError(f"{file.path}: its vocabulary has {len(pieces)} pieces, but not as many scores")
    listed = tuple(Piece(*entry) for entry in zip(pieces, map(float, scores), kinds, strict=True))
    return Proto(
        pieces=listed,
        algorithm=2,
        byte_fallback=True,
        charsmap=b"",
        dummy_prefix=bool(file.facts.get("tokenizer.ggml.add_space_prefix", True)),
        squeeze_spaces=False,
    )
