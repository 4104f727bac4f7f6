"""The model that the pages show, whatever its family: how it reads a text, and how to run it once over everything.

An encoder–decoder is run over a source and a target, all positions at once: by causality each target position sees what
it saw when it was written. An encoder or a decoder alone is run over one sequence.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor, nn

from clearformer.folder import bundle as bundles
from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Markers, usual_markers
from clearformer.inference.text_generator import TextGenerator
from clearformer.model.config import ModelConfig
from clearformer.serving.refusal import Refused
from clearformer.studio.spelling import Token, spell
from clearformer.text.tokenizer import Tokenizer

MAX_CHARACTERS = 20_000
MAX_TOKENS = 1024  # of one side: attention matrices grow with the square


class Pass(Hashable, Protocol):
    """One forward pass over whatever the model reads; equal ones are run once."""

    def arguments(self) -> tuple[Tensor, ...]:
        """What the network is called with."""
        ...


@dataclass(frozen=True)
class Look:
    """One forward pass: the ids that the model is given. target: an encoder–decoder's, with its start symbol."""

    source: tuple[int, ...]
    target: tuple[int, ...] = ()

    def arguments(self) -> tuple[Tensor, ...]:
        """What the network is called with."""
        return tuple(torch.tensor([side]) for side in (self.source, self.target) if side)


def check_length(count: int, limit: int, code: str = "tokens") -> None:
    """Refuse more tokens than can be shown."""
    if count > limit:
        raise Refused(
            code, "the text has {count} tokens, more than the {limit} shown here; shorten it", count=count, limit=limit
        )


class ShownModel:
    """A loaded model folder, ready to be shown."""

    def __init__(self, bundle: Bundle, name: str) -> None:
        if bundle.config.pair is not None:
            raise ValueError(
                f"{name} is a pair of networks, and what is shown here is one; see inside it in Python, with cf.trace"
            )
        self.bundle, self.name = bundle, name
        self.model: nn.Module = bundle.model.eval()
        self.config: ModelConfig = bundle.config

    @classmethod
    def open(cls, folder: Path) -> "ShownModel":
        """Load a model folder; its name is the folder's, or that of the run around it."""
        name = folder.resolve().parent.name if folder.resolve().name == "model" else folder.resolve().name
        return cls(bundles.load(folder, as_kept=True), name)

    @property
    def has_target(self) -> bool:
        """Whether there is a second sequence, which the model writes."""
        return self.config.shape in ("encoder-decoder", "lstm", "convolution") and not self._sees

    @property
    def _sees(self) -> bool:
        """Convolutions over a picture write nothing."""
        return self.config.shape == "convolution" and self.config.front.kind == "patches"

    @property
    def reads_tokens(self) -> bool:
        return self.config.front.kind == "tokens" and self.config.shape != "autoencoder"

    @property
    def source_tokenizer(self) -> Tokenizer | None:
        return self.bundle.tokenizer

    @property
    def target_tokenizer(self) -> Tokenizer | None:
        return self.bundle.target_tokenizer or self.bundle.tokenizer

    @cached_property
    def generator(self) -> TextGenerator | None:
        """What `clearformer generate` would run; None where the model continues no text."""
        writes = self.config.shape == "decoder" and self.config.head.kind == "language-model"
        return TextGenerator(self.bundle) if writes and self.source_tokenizer is not None else None

    def read(self, text: str, *, blank: bool = False) -> tuple[int, ...]:
        """The ids that the model gets for a text, with the markers that it was trained with.

        blank: no text, or spaces alone, are read too, where the model can begin one.
        """
        self.check_text(text)
        if self.source_tokenizer is None:
            return self._numbers(text)
        if not text.strip() and not (blank and self._begins()):
            raise Refused("empty", "there is nothing to read; write a sentence")
        ids = self._encode(self.source_tokenizer, text)
        if not ids:
            raise Refused("empty", "there is nothing to read; write a sentence")
        return self._within_limit(ids)

    def _begins(self) -> bool:
        """Whether there is a token that a text can begin with."""
        known = {} if self.source_tokenizer is None else self.source_tokenizer.special_ids
        return self.generator is not None and bool({"bos", "eos"} & known.keys())

    def _encode(self, tokenizer: Tokenizer, text: str) -> list[int]:
        if self.generator is not None:
            return self.generator.encode(text)  # to the letter: a space at the end is a part of what is continued
        if self.has_target:
            [ids] = tokenizer.ids([text.strip()], add_special=False)
            return [*self.markers.before_source, *ids, *self.markers.after_source] if ids else []
        [ids] = tokenizer.ids([text.strip()], add_special=True)
        bare = tokenizer.ids([text.strip()], add_special=False)[0]
        if not bare:
            return []
        if self.config.shape != "decoder":
            return ids
        special = tokenizer.special_ids
        if ids[-1] == special.get("eos"):
            ids = ids[:-1]  # a text to be continued has no end yet
        starts = "bos" in special and special["bos"] != special.get("eos")  # GPT-2 has one piece for both, and no start
        return [special["bos"], *ids] if starts and ids[:1] != [special["bos"]] else ids

    def check_text(self, text: str) -> None:
        """Refuse a text that cannot be shown."""
        if not self.reads_tokens:
            raise Refused("notext", "this model does not read text, so there is nothing to show of a sentence yet")
        if len(text) > MAX_CHARACTERS:
            told = "the text has {count} characters, more than the {limit} shown here; shorten it"
            raise Refused("characters", told, count=len(text), limit=MAX_CHARACTERS)

    def _numbers(self, text: str) -> tuple[int, ...]:
        """Without a tokenizer a text is a row of token numbers."""
        words = text.replace(",", " ").split()
        if not words or not all(word.isascii() and word.isdigit() and len(word) < 10 for word in words):
            told = "this model has no tokenizer; write token numbers from 0 to {limit}, such as 5 17 3"
            raise Refused("numbers", told, limit=self.config.vocab_size - 1)
        return self._within_limit([int(word) for word in words])

    def _within_limit(self, ids: Sequence[int]) -> tuple[int, ...]:
        check_length(len(ids), MAX_TOKENS)
        self._check_vocabulary(ids, self.config.vocab_size)
        return tuple(ids)

    def _check_vocabulary(self, ids: Sequence[int], size: int) -> None:
        wrong = next((number for number in ids if not 0 <= number < size), None)
        if wrong is not None:
            told = "token {token} is outside the vocabulary of {size} tokens"
            raise Refused("vocabulary", told, token=wrong, size=size)

    def look(self, text: str, target: Sequence[int]) -> Look:
        """What to run: the text, and behind the start symbol the target's ids, or the ids that continue the text."""
        source = self.read(text)
        check_length(len(target), MAX_TOKENS)
        size = (self.config.target_vocab_size if self.has_target else None) or self.config.vocab_size
        self._check_vocabulary(target, size)
        if self.has_target:
            return Look(source, (self.start_id, *target))
        return Look(self._within_limit([*source, *target]))

    @property
    def start_id(self) -> int:
        """What a decoder is given first; models without a tokenizer are given token 0."""
        return self.markers.start if self.bundle.markers or self.target_tokenizer else 0

    @property
    def markers(self) -> Markers:
        """The ids around source and target."""
        if self.bundle.markers is not None:
            return self.bundle.markers
        assert self.source_tokenizer is not None
        assert self.target_tokenizer is not None
        return usual_markers(self.source_tokenizer, self.target_tokenizer)

    def tokens(self, look: Look) -> dict[str, list[Token]]:
        """Both sequences as a person reads them."""
        return {
            "source": spell(self.source_tokenizer, look.source),
            "target": spell(self.target_tokenizer, look.target),
        }

    @torch.inference_mode()
    def run(self, look: Pass) -> Tensor:
        """One ordinary forward pass, nothing padded; returns the head's output."""
        output: Tensor = self.model(*look.arguments())
        return output
