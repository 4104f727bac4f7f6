"""A text goes on: a language model's folder in use, token by token or all at once."""

import logging
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

from clearformer.decoding.constraints.token_masks import TokenMasks
from clearformer.decoding.constraints.token_trie import TokenTrie
from clearformer.decoding.greedy import stream_greedy
from clearformer.decoding.logits import MinP, RepetitionPenalty, Temperature, TopK, TopP, Transform
from clearformer.decoding.lookup import stream_lookup
from clearformer.decoding.protocol import Stepper
from clearformer.decoding.rules import Rules
from clearformer.decoding.sampling import stream_sample
from clearformer.decoding.stream import TokenChoice
from clearformer.evaluation.likelihood import Likelihood
from clearformer.folder.bundle import Bundle
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.inference.causal_network import CausalNetwork
from clearformer.inference.decoder_stepper import DecoderStepper
from clearformer.inference.generation_settings import GenerationConfig
from clearformer.inference.kept_stepper import KeptStepper
from clearformer.inference.likelihood_settings import LikelihoodConfig
from clearformer.inference.moving_window import WindowStepper, moves
from clearformer.inference.predictor import describe
from clearformer.inference.segment_stepper import SegmentStepper
from clearformer.inference.steppers import SearchInput
from clearformer.inference.text_likelihood import measure, way_of_reading
from clearformer.inference.trained_memory import refuse_places, trained_memory
from clearformer.inference.written_text import Continuation, WrittenText
from clearformer.inference.wrong_use import wrong_use
from clearformer.text.running_text import forgets_lines, running_ids, running_text
from clearformer.text.token_bytes import TokenBytes, token_bytes
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.unusable import UnusableTextError

# Positions that mean something up to the trained length only. The others know distances, and go further.
WITHIN_TRAINED = ("learned", "sinusoidal", "split-sinusoidal", "tensor2tensor", "rotary")

_log = logging.getLogger(__name__)


def transforms_of(config: GenerationConfig) -> list[Transform]:
    """The settings as parts that reshape a distribution."""
    parts: list[Transform] = []
    if config.repetition_penalty is not None:
        parts.append(RepetitionPenalty(config.repetition_penalty))
    if config.temperature > 0:
        parts.append(Temperature(config.temperature))
    parts += [] if config.top_k is None else [TopK(config.top_k)]
    parts += [] if config.top_p is None else [TopP(config.top_p)]
    return parts + ([] if config.min_p is None else [MinP(config.min_p)])


def write_tokens(given: SearchInput, config: GenerationConfig) -> Iterator[TokenChoice]:
    """Tokens as they are chosen, in the way that the settings say."""
    parts = transforms_of(config)
    if config.temperature > 0:
        seeds = range(config.seed, config.seed + config.samples)
        return stream_sample(seeds=seeds, transforms=parts, **given.arguments())
    if config.lookup and isinstance(given.stepper, KeptStepper):
        return stream_lookup(
            given.stepper,
            given.source,
            rules=given.rules,
            max_len=given.max_len[0],
            most=config.lookup,
            transforms=parts,
        )
    return stream_greedy(transforms=parts, **given.arguments())


class TextGenerator:
    """A language model with its vocabulary."""

    def __init__(self, bundle: Bundle, *, wanted: str = "language-model") -> None:
        """wanted: the task that it is opened for, which a refusal names."""
        if bundle.config.shape != "decoder" or bundle.config.head.kind != "language-model":
            raise ValueError(wrong_use(bundle.config, wanted, bundle.task))
        self.bundle, self.model = bundle, bundle.model.eval()
        self.tokenizer: Tokenizer = bundle.preprocessing.sides[0]
        self.network = CausalNetwork(self.model)
        self.stepper = DecoderStepper(self.network)
        learned = bundle.config.position.kind == "learned"
        self.longest = bundle.config.max_len if learned else sys.maxsize
        self.memory = trained_memory(bundle)
        trained_only = bundle.config.position.kind in WITHIN_TRAINED and not self.memory
        self.window = self.context if trained_only else sys.maxsize
        self._told = False
        self._masks: tuple[Any, TokenMasks] | None = None
        self._kept: KeptStepper | None = (
            None  # with the keys and values of the last text, which the next may begin like
        )

    def generate(self, prompt: str, config: GenerationConfig | None = None, **changes: Any) -> str:
        """What comes after the prompt. changes: single settings, such as max_new=20."""
        return "".join(self.stream(prompt, config, **changes))

    def stream(self, prompt: str, config: GenerationConfig | None = None, **changes: Any) -> Iterator[str]:
        """The same, piece by piece as soon as each is certain: whole characters, and nothing of a stop text."""
        chosen = replace(config or GenerationConfig(), **changes)
        if chosen.samples > 1:
            raise ValueError("samples are several texts, and this writes one; use continuations()")
        given = self.encode(prompt)
        written = self._written(given, chosen)
        for choice in self.choices(given, chosen):
            if piece := written.add(choice):
                yield piece
            if written.ended:
                return
        if piece := written.close():
            yield piece

    def continuations(self, prompt: str, config: GenerationConfig | None = None, **changes: Any) -> list[Continuation]:
        """As many texts as `samples` says, in one batch: each as it would be drawn alone with its seed."""
        return self.continue_ids(self.encode(prompt), replace(config or GenerationConfig(), **changes))

    def continue_ids(self, prompt: Sequence[int], config: GenerationConfig) -> list[Continuation]:
        """The same for a prompt that has been encoded."""
        texts = [self._written(prompt, config) for _ in range(config.samples)]
        for choice in self.choices(prompt, config):
            if not texts[choice.row].ended:
                texts[choice.row].add(choice)
            if all(text.ended for text in texts):
                break
        for text in texts:
            text.close()
        return [text.result(config.seed + row) for row, text in enumerate(texts)]

    def choices(
        self, prompt: Sequence[int], config: GenerationConfig | None = None, **changes: Any
    ) -> Iterator[TokenChoice]:
        """Tokens and their log-probabilities as they are chosen. prompt: ids, as `encode` makes them."""
        chosen = replace(config or GenerationConfig(), **changes)
        given = self.prepare(prompt, chosen)
        if chosen.samples > 1 or given.stepper is not self.stepper:
            yield from write_tokens(given, chosen)
            return
        # Nobody else has the stepper while a text is being written: two texts in turns would share one past.
        stepper, self._kept = self._kept or KeptStepper(self.network), None
        try:
            yield from write_tokens(replace(given, stepper=stepper), chosen)
        finally:
            self._kept = stepper

    def prepare(self, prompt: Sequence[int], config: GenerationConfig) -> SearchInput:
        """What any way of choosing tokens is given for a prompt: the one place that knows rules and limits."""
        if len(prompt) >= self.window:
            raise UnusableTextError(
                1, f"has {len(prompt)} tokens, and the model has room for {self.window}; shorten it"
            )
        # a table may have more rows than the vocabulary has pieces; no text consists of those
        surplus = range(self.tokenizer.vocab_size, self.bundle.config.vocab_size)
        return SearchInput(
            stepper=self._stepper_for(len(prompt), config.max_new),
            source=[list(prompt)] * config.samples,
            rules=Rules(eos=self.end(), banned=tuple(surplus), constraint=self._constraint(prompt, config)),
            max_len=[config.max_new] * config.samples,
            prefixes=None,
        )

    def _constraint(self, prompt: Sequence[int], config: GenerationConfig) -> TokenMasks | None:
        """The masks of a form. Those of the last one are kept: the next prompt of a file asks for the same."""
        form = (config.choices, config.pattern, config.schema)
        if form == (None, None, None):
            return None
        bare = self._spelling.strips and not self.tokenizer.decode(prompt)
        key = (*form, config.max_new, bare)
        if self._masks is None or self._masks[0] != key:
            grammar = config.form()
            assert grammar is not None
            size, end = self.bundle.config.vocab_size, self.end()
            masks = TokenMasks(grammar, self._trie, end=end, size=size, limit=config.max_new, bare=bare)
            self._masks = key, masks
        return self._masks[1]

    @cached_property
    def _spelling(self) -> TokenBytes:
        return token_bytes(self.tokenizer)

    @cached_property
    def _trie(self) -> TokenTrie:
        return TokenTrie(self._spelling.bytes)

    def _stepper_for(self, prompt: int, new: int) -> Stepper[Any]:
        if self.memory:
            remembering = SegmentStepper(self.network, length=self.context, memory=self.memory)
            return remembering if moves(remembering.room, prompt, new) else self.stepper
        if not moves(self.window, prompt, new):
            return self.stepper
        if not self._told:
            _log.info("the model sees %d tokens at a time: of a longer text it forgets the older half", self.window)
            self._told = True
        return WindowStepper(self.stepper, self.window)

    @property
    def room(self) -> int:
        """Tokens of a text before anything of it is forgotten."""
        if not self.memory:
            return self.window
        return SegmentStepper(self.network, length=self.context, memory=self.memory).room

    @cached_property
    def _goes_on(self) -> bool:
        """Whether what usually ends a text is a line end here: running text in a vocabulary that forgets those."""
        markers = self.bundle.preprocessing.markers
        if markers is None or markers.before_source or self.bundle.task is None:
            return False
        return forgets_lines(self.tokenizer)

    def _written(self, prompt: Sequence[int], config: GenerationConfig) -> WrittenText:
        constraint = self._constraint(prompt, config)
        return WrittenText(
            partial(running_text, self.tokenizer) if self._goes_on else self.tokenizer.decode,
            prompt,
            end=self.end(),
            stops=config.stop_text,
            fits=None if constraint is None else constraint.fits,
        )

    def likelihood(
        self,
        ids: Sequence[int],
        *,
        context: int | None = None,
        stride: int | None = None,
        on_progress: OnProgress = unwatched,
    ) -> Likelihood:
        """How likely a long text is, token by token; each is predicted from at most `context` tokens before it."""
        return self.likelihoods([ids], context=context, stride=stride, on_progress=on_progress)[""]

    def likelihoods(
        self,
        texts: Sequence[Sequence[int]],
        config: LikelihoodConfig | None = None,
        *,
        on_progress: OnProgress = unwatched,
        **changes: Any,
    ) -> dict[str, Likelihood]:
        """The same of several texts together under "", and with a memory of what was read under "cache", "dynamic" and
        "dynamic_cache". changes: single settings, such as cache=2000.
        """
        chosen = replace(config or LikelihoodConfig(), **changes)
        if not texts or min(map(len, texts)) < 2:
            raise ValueError("a text needs two tokens at least, so that one can be predicted from the other")
        context = chosen.context or self.context
        if context > self.longest:
            raise ValueError(f"a context of {context} tokens is more than the model's {self.longest}; take less")
        way = way_of_reading(chosen, context, self.memory)
        if way.memory:
            refuse_places(self.bundle.config.position.kind)
        return measure(self.network, texts, chosen, way, on_progress=on_progress)

    @property
    def context(self) -> int:
        """How many tokens the model was trained to see at a time."""
        told = self.bundle.provenance.get("context")
        return min(told if isinstance(told, int) and told > 0 else self.bundle.config.max_len, self.longest)

    def __repr__(self) -> str:
        return describe(self, f"context of {self.context} tokens")

    def encode(self, prompt: str) -> list[int]:
        """Ids with what the model expects before a text, and nothing behind it; an empty prompt is the start token."""
        markers = self.bundle.preprocessing.markers
        if markers is not None and self.bundle.task is not None:  # trained here: it says what it saw around a text
            plain = running_ids(self.tokenizer, prompt)
            return [*markers.before_source, *plain] or self.before_text()
        ids = list(self.tokenizer.encode(prompt).ids)
        known = self.tokenizer.special_ids
        while ids and ids[-1] in (known.get("eos"), known.get("sep")) and ids[-1] != known.get("bos"):
            ids.pop()
        if not ids and not (ids := self.before_text()):
            raise ValueError("an empty prompt needs a start token, and this vocabulary has none; write a word")
        return ids

    def before_text(self) -> list[int]:
        """What a text begins after, so that its first token can be predicted, too; nothing where there is no token."""
        markers, known = self.bundle.preprocessing.markers, self.tokenizer.special_ids
        if markers is not None and self.bundle.task is not None:
            return list(markers.before_source) or [markers.start]
        start = known.get("bos", known.get("eos"))
        return [] if start is None else [start]

    def end(self) -> int:
        """The token that ends a text; padding, which no text has, where the usual one stands for a line end."""
        if self._goes_on:
            return self.tokenizer.pad_id
        known = self.tokenizer.special_ids
        end = known.get("eos", known.get("sep"))
        if end is None:
            raise ValueError("this vocabulary has no token that ends a text")
        return end
