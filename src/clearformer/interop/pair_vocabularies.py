"""How CLIP and SigLIP cut a text, out of the files that their folders have where no tokenizer.json says it.

CLIP: small letters, words by a pattern, and byte pairs whose last piece of a word ends in </w>. SigLIP: small letters
and no punctuation, before a SentencePiece model. Both are compared with the published programs in the tests.
"""

import string
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers

from clearformer.interop import sentencepiece
from clearformer.interop.sentencepiece import SPACE, Proto
from clearformer.text.tokenizer import Tokenizer

WORD_END = "</w>"
_WORDS = r"""<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"""
_PUNCTUATION = "[" + "".join(f"\\{sign}" for sign in string.punctuation) + "]"
_SPACES = r"[\s\x1c-\x1f]+"  # Python counts four separators of old teletypes as spaces, too
_LAST_SIGMA = r"(?<=\p{L})Σ(?!\p{L})"  # Python writes it as ς, the tokenizers library does not


def clip_engine(vocabulary: Mapping[str, int], merges: Sequence[tuple[str, str]], unknown: str) -> tokenizers.Tokenizer:
    """vocab.json and merges.txt of CLIP."""
    engine = tokenizers.Tokenizer(
        models.BPE(vocab=dict(vocabulary), merges=list(merges), end_of_word_suffix=WORD_END, unk_token=unknown)
    )
    engine.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    )
    engine.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_WORDS), behavior="removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
    # Not Strip, which ends the program where there is nothing to strip from.
    undo = [decoders.ByteLevel(), decoders.Replace(WORD_END, " "), decoders.Replace(Regex(" $"), "")]
    engine.decoder = decoders.Sequence(undo)
    return engine


def siglip_engine(proto: Proto, *, small: bool) -> tokenizers.Tokenizer:
    """spiece.model of SigLIP. small: whether capitals become small letters."""
    if proto.algorithm != 1:
        raise ValueError("it is not a unigram model, which SigLIP's are")
    engine = sentencepiece.unigram_or_bpe(replace(proto, dummy_prefix=False))
    lower = [normalizers.Replace(Regex(_LAST_SIGMA), "ς"), normalizers.Lowercase()] if small else []
    charsmap = [normalizers.Precompiled(proto.charsmap)] if proto.charsmap else []
    squeeze = [normalizers.Replace(Regex(" {2,}"), " ")] if proto.squeeze_spaces else []
    engine.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(SPACE, " "),
            normalizers.Prepend(SPACE),
            *lower,
            normalizers.Replace(Regex(_PUNCTUATION), ""),
            normalizers.Replace(Regex(_SPACES), " "),
            *charsmap,
            *squeeze,
            normalizers.Replace(Regex(f"[ {SPACE}]+$"), ""),
        ]
    )
    return engine


def in_small_letters(tokenizer: Tokenizer) -> Tokenizer:
    """The same vocabulary for texts whose capitals are made small first, as SigLIP 2 was trained."""
    engine = tokenizers.Tokenizer.from_str(tokenizer.definition)
    after: list[Any] = [engine.normalizer] if engine.normalizer is not None else []
    engine.normalizer = normalizers.Sequence([normalizers.Lowercase(), *after])
    return Tokenizer.from_engine(
        engine, kind=tokenizer.kind, special=tokenizer.special, special_in_text=tokenizer.special_in_text
    )


def refuse_left_filling(folder: Path, facts: Mapping[str, Any]) -> None:
    """A text that is read at its last slot is another one if what fills it up stands before it."""
    named = str(facts.get("tokenizer_class", ""))
    side = facts.get("padding_side", "left" if named.startswith(("Gemma", "Siglip2")) else "right")
    if side != "right":
        raise ValueError(
            f"{folder / 'tokenizer_config.json'}: texts are filled up on the left, as {named or 'it'} does unless "
            'padding_side says otherwise, and on the right here; set it to "right" if the model was trained so'
        )
