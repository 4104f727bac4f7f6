"""A text goes on: a language model's folder in use, token by token or all at once."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from clearformer.decoding.greedy import stream_greedy
from clearformer.decoding.logits import RepetitionPenalty, Temperature, TopK, TopP, Transform
from clearformer.decoding.rules import Rules
from clearformer.decoding.sampling import stream_sample
from clearformer.decoding.stream import TokenChoice
from clearformer.folder.bundle import Bundle
from clearformer.inference.generation_settings import GenerationConfig
from clearformer.inference.steppers import SearchInput
from clearformer.model.cache import DecoderCache
from clearformer.text.tokenizer import Tokenizer


def transforms_of(config: GenerationConfig) -> list[Transform]:
    """The settings as parts that reshape a distribution."""
    parts: list[Transform] = []
    if config.repetition_penalty is not None:
        parts.append(RepetitionPenalty(config.repetition_penalty))
    if config.temperature > 0:
        parts.append(Temperature(config.temperature))
    parts += [] if config.top_k is None else [TopK(config.top_k)]
    return parts + ([] if config.top_p is None else [TopP(config.top_p)])


@dataclass
class _State:
    """What a decoder alone remembers between steps."""

    cache: DecoderCache

    def select(self, rows: Tensor) -> "_State":
        return _State(self.cache.select(rows))


class DecoderStepper:
    """A decoder-only model behind the decoders' protocol; a source is the ids of one prompt a row."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.device = next(model.parameters()).device

    @torch.inference_mode()
    def start(self, source: Sequence[Sequence[int]]) -> tuple[Tensor, _State]:
        """Read all but the last token of every prompt; shorter prompts stand to the right, behind padding."""
        width = max(map(len, source))
        tokens = torch.tensor([[0] * (width - len(row)) + list(row) for row in source], device=self.device)
        keep = torch.arange(width) >= width - torch.tensor([[len(row)] for row in source])
        cache: DecoderCache = self.model.start_cache()
        if width > 1:
            self.model(tokens[:, :-1], keep=keep[:, :-1].to(self.device), cache=cache)
        return tokens[:, -1], _State(cache)

    @torch.inference_mode()
    def step(self, tokens: Tensor, state: _State) -> tuple[Tensor, _State]:
        logits: Tensor = self.model(tokens[:, None], cache=state.cache)
        return logits[:, -1], state


class TextGenerator:
    """A language model with its vocabulary."""

    def __init__(self, bundle: Bundle) -> None:
        if bundle.config.shape != "decoder" or bundle.config.head.kind != "language-model":
            raise ValueError(
                f"a {bundle.config.shape} with a head for {bundle.config.head.kind} does not go on with texts"
            )
        if bundle.tokenizer is None:
            raise ValueError("this model folder has no tokenizer, so it cannot read text")
        self.bundle, self.model = bundle, bundle.model.eval()
        self.tokenizer: Tokenizer = bundle.tokenizer
        self.stepper = DecoderStepper(self.model)
        learned = bundle.config.position.kind == "learned"
        self.longest = bundle.config.max_len if learned else sys.maxsize

    def generate(self, prompt: str, config: GenerationConfig | None = None, **changes: Any) -> str:
        """What comes after the prompt. changes: single settings, such as max_new=20."""
        return "".join(self.stream(prompt, config, **changes))

    def stream(self, prompt: str, config: GenerationConfig | None = None, **changes: Any) -> Iterator[str]:
        """The same, piece by piece as soon as each is a whole text."""
        given = self.encode(prompt)
        shown = self.tokenizer.decode(given)
        ids: list[int] = []
        for choice in self.choices(given, config, **changes):
            if choice.token == self._end():
                return
            ids.append(choice.token)
            text = self.tokenizer.decode([*given, *ids])
            if text.startswith(shown) and not text.endswith("\ufffd"):  # half a character waits for its other half
                yield text[len(shown) :]
                shown = text
        text = self.tokenizer.decode([*given, *ids])
        if len(text) > len(shown):
            yield text[len(shown) :]

    def choices(
        self, prompt: Sequence[int], config: GenerationConfig | None = None, **changes: Any
    ) -> Iterator[TokenChoice]:
        """Tokens and their log-probabilities as they are chosen. prompt: ids, as `encode` makes them."""
        chosen = replace(config or GenerationConfig(), **changes)
        given = self.prepare(prompt, chosen).arguments()
        if chosen.temperature == 0:
            yield from stream_greedy(transforms=transforms_of(chosen), **given)
        else:
            yield from stream_sample(seeds=[chosen.seed], transforms=transforms_of(chosen), **given)

    def prepare(self, prompt: Sequence[int], config: GenerationConfig) -> SearchInput:
        """What any way of choosing tokens is given for a prompt: the one place that knows rules and limits."""
        room = self.longest - len(prompt)
        if room < 1:
            raise ValueError(
                f"the prompt has {len(prompt)} tokens, and the model has room for {self.longest}; shorten it"
            )
        # a table may have more rows than the vocabulary has pieces; no text consists of those
        surplus = range(self.tokenizer.vocab_size, self.bundle.config.vocab_size)
        return SearchInput(
            stepper=self.stepper,
            source=[list(prompt)],
            rules=Rules(eos=self._end(), banned=tuple(surplus)),
            max_len=[min(config.max_new, room)],
            prefixes=None,
        )

    def encode(self, prompt: str) -> list[int]:
        """Ids with what the model expects before a text, and nothing behind it; an empty prompt is the start token."""
        ids = list(self.tokenizer.encode(prompt).ids)
        known = self.tokenizer.special_ids
        while ids and prompt and ids[-1] in (known.get("eos"), known.get("sep")) and ids[-1] != known.get("bos"):
            ids.pop()
        if ids:
            return ids
        start = known.get("bos", known.get("eos"))
        if start is None:
            raise ValueError("an empty prompt needs a start token, and this vocabulary has none; write a word")
        return [start]

    def _end(self) -> int:
        known = self.tokenizer.special_ids
        end = known.get("eos", known.get("sep"))
        if end is None:
            raise ValueError("this vocabulary has no token that ends a text")
        return end
