"""Assemble a tokenizer from the library's parts, so that decoding gives back the encoded text.

A model (the pieces) needs four things around it: a normaliser before, a rule that splits text into words, the special
tokens that stand around a sentence, and a decoder that undoes all of it.
"""

from collections.abc import Sequence
from dataclasses import replace

import tokenizers
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors

from clearformer.text import normalise as norm
from clearformer.text.normalise import Normalisation
from clearformer.text.special import BERT, SENTENCE, SpecialTokens
from clearformer.text.tokenizer import Kind, Tokenizer

# How WordPiece marks a piece that continues a word.
CONTINUES = "##"

# What BPE and unigram may join into one piece: a word with the space before it, a digit, a run of punctuation, spaces.
# - Words keep their inner apostrophes (don't, l’homme) and their combining marks (Hindi, Thai).
# - Digits stand alone, so that a number never seen before is copied digit by digit.
# - Entities such as &apos; are how the Moses tokeniser writes quotes; they are one word.
# - "<" stands alone. Every special token and byte piece begins with it, so no text can be mistaken for one.
WORDS = (
    r"<"
    r"| ?&[a-z]+;"
    r"| ?[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)*"
    r"| ?\p{N}"
    r"| ?[^\s\p{L}\p{M}\p{N}<]+"
    r"|\s+(?!\S)"
    r"|\s+"
)


def words() -> pre_tokenizers.PreTokenizer:
    """The rule of WORDS as a part of a tokenizer."""
    return pre_tokenizers.Split(Regex(WORDS), behavior="isolated")


def bpe_model(pieces: Sequence[str], merges: list[tuple[str, str]]) -> models.BPE:
    """Pieces in the order of their ids; whatever they cannot spell is spelt in bytes."""
    numbered = {piece: number for number, piece in enumerate(pieces)}
    return models.BPE(vocab=numbered, merges=merges, unk_token=SENTENCE.unk, byte_fallback=True)


def fallback_tokenizer(
    model: models.Model, *, kind: Kind, normalise: Sequence[Normalisation], prefix_space: bool = False
) -> Tokenizer:
    """A vocabulary with byte fallback, with the parts that make `decode` the exact inverse of `encode`."""
    engine = tokenizers.Tokenizer(model)
    before = norm.steps(normalise)
    after = [decoders.ByteFallback(), decoders.Fuse()]
    if prefix_space:
        # One space is always added and always removed, so a text that begins with spaces keeps all of them.
        before.append(normalizers.Prepend(" "))
        after.append(decoders.Strip(" ", 1, 0))
    if before:
        engine.normalizer = normalizers.Sequence(before)
    if kind in ("bpe", "unigram"):  # the other kinds have no piece longer than a character
        engine.pre_tokenizer = words()
    engine.decoder = decoders.Sequence(after)
    _surround(engine, "<bos>", "<eos>")
    _mark_special(engine, SENTENCE)
    return Tokenizer.from_engine(engine, kind=kind, special=SENTENCE, normalise=normalise)


def wordpiece_tokenizer(
    vocabulary: dict[str, int],
    normalizer: normalizers.Normalizer,
    *,
    normalise: Sequence[Normalisation] = (),
    special_in_text: bool,
) -> Tokenizer:
    """A WordPiece vocabulary, trained or published, with [CLS] and [SEP] around each text."""
    engine = tokenizers.Tokenizer(
        models.WordPiece(vocab=vocabulary, unk_token="[UNK]", continuing_subword_prefix=CONTINUES)
    )
    engine.normalizer = normalizer
    engine.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    engine.decoder = decoders.WordPiece(prefix=CONTINUES)
    _surround(engine, "[CLS]", "[SEP]")
    _mark_special(engine, BERT)
    return Tokenizer.from_engine(
        engine, kind="wordpiece", special=BERT, normalise=normalise, special_in_text=special_in_text
    )


def word_tokenizer(vocabulary: Sequence[str], *, normalise: Sequence[Normalisation] = ()) -> Tokenizer:
    """Whole words in the order of their ids, split at spaces alone; <bos> and <eos> stand around each text."""
    numbered = {word: number for number, word in enumerate(vocabulary)}
    engine = tokenizers.Tokenizer(models.WordLevel(vocab=numbered, unk_token=SENTENCE.unk))
    if before := norm.steps(normalise):
        engine.normalizer = normalizers.Sequence(before)
    engine.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    _surround(engine, "<bos>", "<eos>")
    _mark_special(engine, SENTENCE)
    return Tokenizer.from_engine(engine, kind="word", special=SENTENCE, normalise=normalise)


def with_mask(tokenizer: Tokenizer) -> Tokenizer:
    """The same vocabulary with a token for hidden words, [MASK], as its last one where it had none.

    Kinds that lose spacing anyway find it where a text spells it. For the others text stays text: whoever fills gaps
    finds them before encoding, because the library would take what follows for the beginning of a text.
    """
    engine = tokenizers.Tokenizer.from_str(tokenizer.definition)
    special = replace(tokenizer.special, mask=tokenizer.special.mask or BERT.mask)
    _mark_special(engine, SpecialTokens(mask=special.mask))
    return Tokenizer.from_engine(
        engine,
        kind=tokenizer.kind,
        special=special,
        normalise=tokenizer.normalise,
        special_in_text=tokenizer.special_in_text or tokenizer.kind in ("wordpiece", "word"),
    )


def with_ends(tokenizer: Tokenizer) -> Tokenizer:
    """The same vocabulary, whose [CLS] begins and whose [SEP] ends what is written, where it has no such tokens."""
    special = tokenizer.special
    if special.eos is not None or special.cls is None or special.sep is None:
        return tokenizer
    return Tokenizer(
        tokenizer.definition,
        kind=tokenizer.kind,
        special=replace(special, bos=special.cls, eos=special.sep),
        normalise=tokenizer.normalise,
        special_in_text=tokenizer.special_in_text,
    )


def with_pieces(tokenizer: Tokenizer, pieces: Sequence[str]) -> Tokenizer:
    """The same vocabulary with more pieces at its end that no text is cut into, such as T5's sentinels."""
    engine = tokenizers.Tokenizer.from_str(tokenizer.definition)
    engine.add_special_tokens([AddedToken(piece, special=True, normalized=False) for piece in pieces])
    return Tokenizer.from_engine(
        engine,
        kind=tokenizer.kind,
        special=tokenizer.special,
        normalise=tokenizer.normalise,
        special_in_text=tokenizer.special_in_text,
    )


def byte_level_tokenizer(
    vocabulary: dict[str, int], merges: list[tuple[str, str]], special: SpecialTokens
) -> Tokenizer:
    """As in GPT-2: every byte has a printable character and BPE runs over those; no special tokens are added."""
    engine = tokenizers.Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    engine.decoder = decoders.ByteLevel()
    _mark_special(engine, special)
    return Tokenizer.from_engine(engine, kind="bpe", special=special)


def _surround(engine: tokenizers.Tokenizer, first: str, last: str) -> None:
    numbered = [(piece, engine.token_to_id(piece)) for piece in (first, last)]
    engine.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}", pair=f"{first} $A {last} $B:1 {last}:1", special_tokens=numbered
    )


def _mark_special(engine: tokenizers.Tokenizer, special: SpecialTokens) -> None:
    """Tell the library which pieces `decode` may skip."""
    engine.add_special_tokens([AddedToken(piece, special=True, normalized=False) for piece in special.spellings()])
