"""Learn a vocabulary from text. The `tokenizers` library does the learning; the choices and guarantees are here.

The same texts give the same tokenizer, byte for byte, on any number of threads: where the library lets the order of a
hash table or of a floating-point sum show, the code below removes the difference and says so.

One vocabulary for both languages is one call over both sides; two vocabularies are two calls.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, get_args

import tokenizers
from tokenizers import Regex, models, normalizers, pre_tokenizers, trainers

from clearformer.text import normalise as norm
from clearformer.text.assemble import (
    CONTINUES,
    WORDS,
    bpe_model,
    fallback_tokenizer,
    word_tokenizer,
    wordpiece_tokenizer,
    words,
)
from clearformer.text.normalise import Normalisation
from clearformer.text.special import BERT, SENTENCE
from clearformer.text.tokenizer import Kind, Tokenizer
from clearformer.text.vocabulary import ALL_BYTES, ASCII, FALLBACK_BYTES, choose_alphabet, count_characters

MAX_VOCABULARY = 1_000_000


@dataclass(frozen=True, kw_only=True)
class TokenizerConfig:
    """Choices of a vocabulary.

    normalise: nothing by default, because everything else loses something (see normalise.py).
    prefix_space: put one space before the text and remove it when decoding; bpe and unigram only.
    """

    kind: Kind = "bpe"  # merged pairs, BERT's pieces, a unigram model, whole words, single characters, or bytes
    vocab_size: int = 8000  # the most pieces, special tokens included
    normalise: tuple[Normalisation, ...] = ()  # what is forgotten before pieces are cut; nothing by default
    prefix_space: bool = True  # a word has the same pieces at the start as inside; false for unspaced scripts
    min_frequency: int = 2  # characters and merges seen less often get no piece

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"unknown kind of tokenizer {self.kind!r}; choose from {', '.join(get_args(Kind))}")
        norm.check_choices(self.normalise)
        needed = _BASE_SIZES[self.kind]
        if not needed <= self.vocab_size <= MAX_VOCABULARY:
            raise ValueError(
                f"vocab_size {self.vocab_size} does not suit a {self.kind} vocabulary; "
                f"choose between {needed} (its special tokens and single characters) and {MAX_VOCABULARY:,}"
            )
        if self.min_frequency < 1:
            raise ValueError(f"min_frequency is {self.min_frequency}; it counts occurrences, so 1 is the least")


def train(
    kind: Kind,
    texts: Iterable[str],
    vocab_size: int = 8000,
    *,
    normalise: Sequence[Normalisation] = (),
    prefix_space: bool = True,
    min_frequency: int = 2,
) -> Tokenizer:
    """Learn a vocabulary of at most `vocab_size` pieces, special tokens included (a small corpus may give fewer).

    Ids: pad 0, bos 1, eos 2, unk 3, then bytes, characters and longer pieces, the useful ones first;
    WordPiece: [PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3, [MASK] 4. `byte` learns nothing: byte b is always id 4 + b.
    Texts are read twice or three times: give a list, or something that reopens its file each time it is iterated.
    A one-shot iterator is kept in memory.
    """
    config = TokenizerConfig(
        kind=kind,
        vocab_size=vocab_size,
        normalise=tuple(normalise),
        prefix_space=prefix_space,
        min_frequency=min_frequency,
    )
    return train_from(config, texts)


def train_from(config: TokenizerConfig, texts: Iterable[str]) -> Tokenizer:
    """`train` with the choices in one object, as a run's configuration holds them."""
    if isinstance(texts, str):
        raise TypeError("texts is one string; give a list of texts (or of lines)")
    again = list(texts) if isinstance(texts, Iterator) else texts
    return _TRAINERS[config.kind](config, again)


# --- one function per kind --------------------------------------------------------------------------------------------


def _train_bpe(config: TokenizerConfig, texts: Iterable[str]) -> Tokenizer:
    """Byte-pair encoding over characters, with bytes for the characters that are too rare (Sennrich et al., 2016).

    Why not bytes throughout, as GPT-2 does: pieces here are readable text, a Chinese character is one piece and not
    two merges, and a model cannot produce half a character except where it spells one in bytes. Why not the usual
    "▁" for spaces: a text that contains ▁ would come back with a space in its place. Spaces stay spaces.
    """
    base = [*SENTENCE.spellings(), *FALLBACK_BYTES]
    alphabet = _alphabet(config, texts, base)
    learnt = _learn_bpe(config, texts, alphabet, config.vocab_size - len(base))
    pieces = base + sorted(learnt["vocab"], key=learnt["vocab"].__getitem__)
    merges = [(left, right) for left, right in learnt["merges"]]
    return fallback_tokenizer(
        bpe_model(pieces, merges), kind="bpe", normalise=config.normalise, prefix_space=config.prefix_space
    )


def _train_unigram(config: TokenizerConfig, texts: Iterable[str]) -> Tokenizer:
    """A unigram language model over pieces; the likeliest segmentation wins (Kudo, 2018)."""
    base = [*SENTENCE.spellings(), *FALLBACK_BYTES]
    alphabet = _alphabet(config, texts, base)
    learner = tokenizers.Tokenizer(models.Unigram())
    learner.pre_tokenizer = pre_tokenizers.Split(Regex(_CANDIDATE + "|" + WORDS), behavior="isolated")
    trainer = trainers.UnigramTrainer(
        vocab_size=config.vocab_size - len(base), initial_alphabet=alphabet, special_tokens=[], show_progress=False
    )
    candidates = (piece + _END_OF_CANDIDATE for piece in _candidates(config, texts, alphabet))
    learner.train_from_iterator(chain(_training_texts(config, texts, alphabet), candidates), trainer)
    learnt = [(piece, score) for piece, score in _model_of(learner)["vocab"] if not _marked(piece)]
    scored = [(piece, 0.0) for piece in base] + _settle_scores(learnt)
    model = models.Unigram(scored, unk_id=base.index("<unk>"), byte_fallback=True)
    return fallback_tokenizer(model, kind="unigram", normalise=config.normalise, prefix_space=config.prefix_space)


def _train_wordpiece(config: TokenizerConfig, texts: Iterable[str]) -> Tokenizer:
    """BERT's pieces: words split at spaces and punctuation, continuations marked ## (Devlin et al., 2018)."""
    base = BERT.spellings()
    alphabet = _wordpiece_alphabet(config, texts, len(base))
    # The library numbers the ##x pieces in the order of a hash table and breaks ties between merges by number. So it
    # is asked twice: first which ##x occur at all, then to train with those numbered beforehand, in order.
    seen = _wordpiece_vocabulary(config, texts, alphabet, continuations=[], size=0)
    continuations = sorted(piece for piece in seen if piece.startswith(CONTINUES) and len(piece) == 3)
    learnt = _wordpiece_vocabulary(config, texts, alphabet, continuations, config.vocab_size - len(base))
    pieces = base + sorted(learnt, key=learnt.__getitem__)
    return wordpiece_tokenizer(
        {piece: number for number, piece in enumerate(pieces)},
        normalizers.Sequence(_wordpiece_steps(config)),
        normalise=config.normalise,
        special_in_text=False,
    )


def _train_word(config: TokenizerConfig, texts: Iterable[str]) -> Tokenizer:
    """Whole words between spaces, the frequent ones first: for text that was split before."""
    base = SENTENCE.spellings()
    learner = tokenizers.Tokenizer(models.WordLevel(unk_token=SENTENCE.unk))
    learner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.WordLevelTrainer(
        vocab_size=config.vocab_size, min_frequency=config.min_frequency, special_tokens=[], show_progress=False
    )
    learner.train_from_iterator(_normalised(config, texts), trainer)
    learnt: dict[str, int] = _model_of(learner)["vocab"]
    known = [word for word in sorted(learnt, key=learnt.__getitem__) if word not in base]  # the text may spell <unk>
    if not known:
        raise ValueError(f"there is no text to learn a {config.kind} vocabulary from; check the files")
    return word_tokenizer([*base, *known][: config.vocab_size], normalise=config.normalise)


def _train_character(config: TokenizerConfig, texts: Iterable[str]) -> Tokenizer:
    """One piece per character: a BPE vocabulary without merges; rare characters in bytes."""
    base = [*SENTENCE.spellings(), *FALLBACK_BYTES]
    counts = count_characters(_normalised(config, texts))
    alphabet = choose_alphabet(counts, config.vocab_size - len(base), config.min_frequency)
    return fallback_tokenizer(bpe_model(base + alphabet, []), kind="character", normalise=config.normalise)


def _train_byte(config: TokenizerConfig, texts: Iterable[str]) -> Tokenizer:
    """One piece per byte of UTF-8: all 256, nothing to learn; the texts are not read."""
    model = bpe_model(SENTENCE.spellings() + ALL_BYTES, [])
    return fallback_tokenizer(model, kind="byte", normalise=config.normalise)


_TRAINERS: dict[Kind, Callable[[TokenizerConfig, Iterable[str]], Tokenizer]] = {
    "bpe": _train_bpe,
    "wordpiece": _train_wordpiece,
    "unigram": _train_unigram,
    "word": _train_word,
    "character": _train_character,
    "byte": _train_byte,
}

_WITH_FALLBACK = len(SENTENCE.spellings()) + len(FALLBACK_BYTES) + len(ASCII)
_BASE_SIZES: dict[Kind, int] = {
    "bpe": _WITH_FALLBACK,
    "unigram": _WITH_FALLBACK,
    "character": _WITH_FALLBACK,
    "byte": len(SENTENCE.spellings()) + len(ALL_BYTES),
    "wordpiece": 100,
    "word": len(SENTENCE.spellings()) + 1,
}


# --- what goes into training -----------------------------------------------------------------------------------------


def _normalised(config: TokenizerConfig, texts: Iterable[str]) -> Iterator[str]:
    return (norm.normalise(text, config.normalise) for text in texts)


def _alphabet(config: TokenizerConfig, texts: Iterable[str], base: Sequence[str]) -> list[str]:
    """Characters may take half of what is left; the other half is for the pieces that make sequences short."""
    counts = count_characters(_normalised(config, texts))
    if not counts:
        raise ValueError(f"there is no text to learn a {config.kind} vocabulary from; check the files")
    room = max(len(ASCII), (config.vocab_size - len(base)) // 2)
    return choose_alphabet(counts, room, config.min_frequency)


def _training_texts(config: TokenizerConfig, texts: Iterable[str], alphabet: Sequence[str]) -> Iterator[str]:
    """The texts as the learner sees them: a character that will be spelt in bytes ends the word it stands in."""
    keep = _OnlyThese(alphabet)
    prefix = " " if config.prefix_space else ""
    return (prefix + text.translate(keep) for text in _normalised(config, texts))


class _OnlyThese(dict[int, int]):
    """A table for str.translate: kept characters stay, any other becomes a line end."""

    def __init__(self, kept: Iterable[str]) -> None:
        super().__init__({ord(character): ord(character) for character in kept})

    def __missing__(self, code: int) -> int:
        return ord("\n")


# The library starts from the strings that occur in two different words, so a word that is part of no other ("while")
# could never become a piece, however frequent: on Multi30k that makes sentences a sixth longer. Therefore each string
# that BPE finds worth joining is shown once more, as a word of its own with a mark at its end that no text has.
_END_OF_CANDIDATE = "\x01"
_CANDIDATE = r"\A[^\x01]+\x01\z"


def _marked(piece: str) -> bool:
    return len(piece) > 1 and _END_OF_CANDIDATE in piece


def _candidates(config: TokenizerConfig, texts: Iterable[str], alphabet: Sequence[str]) -> list[str]:
    """Twice as many strings as the vocabulary will hold; the unigram model then chooses among them."""
    learnt = _learn_bpe(config, texts, alphabet, 2 * config.vocab_size)
    return [piece for piece in learnt["vocab"] if len(piece) > 1]


def _learn_bpe(config: TokenizerConfig, texts: Iterable[str], alphabet: Sequence[str], size: int) -> dict[str, Any]:
    learner = tokenizers.Tokenizer(models.BPE())
    learner.pre_tokenizer = words()
    trainer = trainers.BpeTrainer(
        vocab_size=size, min_frequency=config.min_frequency, initial_alphabet=list(alphabet), show_progress=False
    )
    learner.train_from_iterator(_training_texts(config, texts, alphabet), trainer)
    return _model_of(learner)


def _settle_scores(learnt: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """Remove the order of the library's hash table from the trained scores, and sort the pieces by usefulness.

    Two traces of it: sums in another order differ in the eleventh decimal, and characters that training did not
    use get the lowest score plus 0.0001, 0.0002, … in hash order. Rounding removes the first, and giving all of them
    the lowest score the second.
    """
    lowest = min(score for _, score in learnt)
    single = sum(len(piece) == 1 for piece, _ in learnt)
    unused_below = lowest + 1e-4 * (single + 1)
    unused = {piece for piece, score in learnt if len(piece) == 1 and score < unused_below} | {_END_OF_CANDIDATE}
    settled = [(piece, round(lowest if piece in unused else score, 3)) for piece, score in learnt]
    return sorted(settled, key=lambda item: (-item[1], item[0]))


def _wordpiece_alphabet(config: TokenizerConfig, texts: Iterable[str], taken: int) -> list[str]:
    """A character can need two pieces (x and ##x), and both together may take half of the room."""
    clean = normalizers.Sequence(_wordpiece_steps(config))
    counts = count_characters(clean.normalize_str(text) for text in texts)
    for character in [c for c in counts if c.isspace()]:
        del counts[character]
    if not counts:
        raise ValueError(f"there is no text to learn a {config.kind} vocabulary from; check the files")
    return choose_alphabet(counts, (config.vocab_size - taken) // 4, config.min_frequency, always=())


def _wordpiece_vocabulary(
    config: TokenizerConfig, texts: Iterable[str], alphabet: Sequence[str], continuations: Sequence[str], size: int
) -> dict[str, int]:
    learner = tokenizers.Tokenizer(models.BPE(continuing_subword_prefix=CONTINUES))
    learner.normalizer = normalizers.Sequence(_wordpiece_steps(config))
    learner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=config.min_frequency,
        initial_alphabet=list(alphabet),
        limit_alphabet=len(alphabet),
        special_tokens=list(continuations),
        continuing_subword_prefix=CONTINUES,
        show_progress=False,
    )
    learner.train_from_iterator(iter(texts), trainer)
    vocabulary: dict[str, int] = _model_of(learner)["vocab"]
    return vocabulary


def _wordpiece_steps(config: TokenizerConfig) -> list[normalizers.Normalizer]:
    # Control characters are removed, every Chinese character becomes a word; case and accents stay unless asked.
    clean = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=False, lowercase=False)
    return [clean, *norm.steps(config.normalise)]


def _model_of(learner: tokenizers.Tokenizer) -> dict[str, Any]:
    model: dict[str, Any] = json.loads(learner.to_str())["model"]
    return model
