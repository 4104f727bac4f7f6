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
from clearformer.model.cache import DecoderCache
from clearformer.text.tokenizer import Tokenizer


@dataclass(frozen=True, kw_only=True)
class GenerationConfig:
    """How a text goes on. temperature = 0 takes the likeliest token each time; anything above draws by chance."""

    max_new: int = 128
    temperature: float = 0.0
    top_k: int | None = None
    top_p: float | None = None
    repetition_penalty: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.max_new < 1:
            raise ValueError(f"max_new must be at least 1, not {self.max_new}")
        if self.temperature < 0:
            raise ValueError(f"temperature must be 0 (greedy) or above, not {self.temperature}")
        if self.temperature == 0 and (self.top_k is not None or self.top_p is not None):
            raise ValueError("top_k and top_p choose among the tokens that chance draws from; set temperature above 0")

    def transforms(self) -> list[Transform]:
        """The same as parts that reshape a distribution."""
        parts: list[Transform] = []
        if self.repetition_penalty is not None:
            parts.append(RepetitionPenalty(self.repetition_penalty))
        if self.temperature > 0:
            parts.append(Temperature(self.temperature))
        parts += [] if self.top_k is None else [TopK(self.top_k)]
        return parts + ([] if self.top_p is None else [TopP(self.top_p)])


@dataclass
class DecoderState:
    """What a decoder alone remembers between steps."""

    cache: DecoderCache
    rows: int

    def select(self, rows: Tensor) -> "DecoderState":
        return DecoderState(self.cache.select(rows), len(rows))

    def join(self, other: "DecoderState") -> "DecoderState":
        """The rows of both; the shorter text stands to the right, behind padding."""
        counts = self.rows, other.rows
        return DecoderState(self.cache.join(other.cache, counts), sum(counts))


class DecoderStepper:
    """A decoder-only model behind the decoders' protocol; a source is the ids of one prompt a row."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.device = next(model.parameters()).device

    @torch.inference_mode()
    def start(self, source: Sequence[Sequence[int]]) -> tuple[Tensor, DecoderState]:
        """Read all but the last token of every prompt; shorter prompts stand to the right, behind padding."""
        width = max(map(len, source))
        tokens = torch.tensor([[0] * (width - len(row)) + list(row) for row in source], device=self.device)
        keep = torch.arange(width) >= width - torch.tensor([[len(row)] for row in source])
        cache: DecoderCache = self.model.start_cache()
        if width > 1:
            self.model(tokens[:, :-1], keep=keep[:, :-1].to(self.device), cache=cache)
        return tokens[:, -1], DecoderState(cache, len(source))

    @torch.inference_mode()
    def step(self, tokens: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
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
        room = self.longest - len(prompt)
        if room < 1:
            raise ValueError(
                f"the prompt has {len(prompt)} tokens, and the model has room for {self.longest}; shorten it"
            )
        rules = Rules(eos=self._end())
        length = min(chosen.max_new, room)
        if chosen.temperature == 0:
            yield from stream_greedy(
                self.stepper, [list(prompt)], rules=rules, max_len=length, transforms=chosen.transforms()
            )
        else:
            yield from stream_sample(
                self.stepper,
                [list(prompt)],
                rules=rules,
                max_len=length,
                seeds=[chosen.seed],
                transforms=chosen.transforms(),
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
