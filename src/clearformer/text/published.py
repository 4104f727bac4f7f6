"""Open the vocabularies that BERT and GPT-2 were published with, and get exactly the ids that those models expect."""

import json
from pathlib import Path

from tokenizers import normalizers

from clearformer.text.assemble import byte_level_tokenizer, wordpiece_tokenizer
from clearformer.text.special import BERT, SpecialTokens
from clearformer.text.tokenizer import Tokenizer

# GPT-2 has one special token for everything; it ends a document, and so it also begins one.
_END_OF_TEXT = "<|endoftext|>"


def from_wordpiece_vocab(path: Path | str, lowercase: bool = True) -> Tokenizer:
    """BERT's vocab.txt: one piece a line, the line's number is the id. `lowercase` also drops accents, as BERT does.

    [MASK] and the other markers are special when they stand in a text: that is how BERT is asked to fill a gap.
    """
    path = Path(path)
    lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    vocabulary: dict[str, int] = {}
    for number, piece in enumerate(line.removesuffix("\r") for line in lines):
        if piece in vocabulary:
            raise ValueError(
                f"{path}, line {number + 1}: {piece!r} is already on line {vocabulary[piece] + 1}; "
                "a vocabulary has each piece once, take the published file"
            )
        vocabulary[piece] = number
    missing = [piece for piece in BERT.spellings() if piece not in vocabulary]
    if missing:
        raise ValueError(f"{path} has no line for {', '.join(missing)}; it is not a BERT vocabulary")
    normalizer = normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=True, strip_accents=lowercase, lowercase=lowercase
    )
    return wordpiece_tokenizer(vocabulary, normalizer, special_in_text=True)


def from_gpt2(vocab_json: Path | str, merges_txt: Path | str) -> Tokenizer:
    """GPT-2's vocab.json (or encoder.json) and merges.txt (or vocab.bpe)."""
    vocab_json = Path(vocab_json)
    try:
        vocabulary: dict[str, int] = json.loads(vocab_json.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{vocab_json} is not JSON ({error}); take the published file") from None
    if _END_OF_TEXT not in vocabulary:
        raise ValueError(f"{vocab_json} has no piece {_END_OF_TEXT!r}; it is not a GPT-2 vocabulary")
    special = SpecialTokens(bos=_END_OF_TEXT, eos=_END_OF_TEXT)
    return byte_level_tokenizer(vocabulary, _read_merges(Path(merges_txt), vocabulary), special)


def _read_merges(path: Path, vocabulary: dict[str, int]) -> list[tuple[str, str]]:
    merges = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        if not line.strip() or (number == 1 and line.startswith("#version")):
            continue
        left, _, right = line.removesuffix("\r").partition(" ")
        if not right or " " in right or left + right not in vocabulary:
            raise ValueError(
                f"{path}, line {number}: {line!r} is not a merge of two pieces of the vocabulary; "
                "take the two files of one model"
            )
        merges.append((left, right))
    return merges
