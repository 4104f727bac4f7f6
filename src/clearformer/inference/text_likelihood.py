"""The likelihood of long texts: windows that overlap or segments with a memory, every token scored once.

T tokens of a stretch, D model width.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from clearformer.evaluation.likelihood import Likelihood
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.inference.causal_network import CausalNetwork
from clearformer.inference.continuous_cache import ContinuousCache
from clearformer.inference.dynamic_evaluation import DynamicModel
from clearformer.inference.likelihood_settings import LikelihoodConfig
from clearformer.model.narrow import wide_linear
from clearformer.model.segment_memory import SegmentMemory


class ScoredStretch(NamedTuple):
    """Tokens in a row, the probability of each after those before it, and the states that predicted them."""

    log_probs: Tensor  # T
    states: Tensor  # T D
    following: Tensor  # T


class Window(NamedTuple):
    """Tokens begin to end are read, and those from `done` on are scored."""

    begin: int
    done: int
    end: int


def windows(count: int, *, context: int, stride: int) -> Iterator[Window]:
    """Each window sees `context` tokens, and all but the first score only the last `stride`, so that nearly every token
    is predicted from a long past.
    """
    done = 1  # tokens that need no prediction any more
    while done < count:
        end = min(count, done + (stride if done > 1 else context))
        yield Window(max(0, end - context - 1), done, end)
        done = end


def segments(count: int, *, context: int) -> Iterator[Window]:
    """One after the other, each scored whole: what lies before is remembered and not read again."""
    return (Window(done - 1, done, min(count, done + context)) for done in range(1, count, context))


class Way(NamedTuple):
    """How a text is read. memory: tokens whose states are kept from segment to segment; 0: in windows that overlap."""

    context: int
    stride: int
    memory: int = 0

    def places(self, count: int) -> Iterator[Window]:
        """The windows of a text of so many tokens."""
        if self.memory:
            return segments(count, context=self.context)
        return windows(count, context=self.context, stride=self.stride)

    def likelihood(self, blocks: list[list[float]]) -> Likelihood:
        """What was found, with how."""
        return Likelihood(blocks=blocks, context=self.context, stride=self.stride, memory=self.memory)


def way_of_reading(config: LikelihoodConfig, context: int, trained: int) -> Way:
    """What the settings ask for. trained: the memory that a model learned with, which holds where nothing is said."""
    memory = trained if config.memory is None else config.memory
    if memory and config.stride not in (None, context):
        raise ValueError("with a memory every segment is read once and nothing overlaps; leave the stride out")
    stride = config.stride or (context if memory else max(1, context // 2))
    if stride > context:
        raise ValueError(f"a stride must be at least 1 and no more than the context of {context}, not {stride}")
    return Way(context, stride, memory)


def measure(
    network: CausalNetwork,
    texts: Sequence[Sequence[int]],
    config: LikelihoodConfig,
    way: Way,
    *,
    on_progress: OnProgress = unwatched,
) -> dict[str, Likelihood]:
    """The plain likelihood under "", and, where config asks for them, those of a model that looks back or learns:
    "cache", "dynamic" and "dynamic_cache", of the same tokens in the same windows. A window never has tokens of two
    texts, and no state is remembered from one to the next; a cache and what was learned go on.
    """
    found: dict[str, Likelihood] = {}
    for name in ("", "dynamic") if config.dynamic else ("",):
        learner = DynamicModel(network.model, rate=config.dynamic, decay=config.dynamic_decay) if name else None
        cache = ContinuousCache(config.cache, theta=config.cache_theta, share=config.cache_share)
        plain, mixed = [], []
        for scored in _read(network, texts, way, learner=learner, on_progress=on_progress):
            plain.append((-scored.log_probs).tolist())
            if config.cache:
                mixed.append((-cache.mix(*scored)).tolist())
        found[name] = way.likelihood(plain)
        if config.cache:
            found[f"{name}_cache".strip("_")] = way.likelihood(mixed)
    return found


def _read(
    network: CausalNetwork,
    texts: Sequence[Sequence[int]],
    way: Way,
    *,
    learner: DynamicModel | None,
    on_progress: OnProgress,
) -> Iterator[ScoredStretch]:
    """Stretch by stretch. What a learner takes from one is not used before the next."""
    places = [(text, window) for text in texts for window in way.places(len(text))]
    reader = _Reading(network, way.memory) if learner is None else _LearnersReading(learner, way.memory)
    for done, (text, window) in enumerate(places, start=1):
        row = torch.tensor(text[window.begin : window.end], device=network.device)
        following = row[window.done - window.end :]
        with torch.inference_mode(learner is None), torch.set_grad_enabled(learner is not None):
            states = reader.states(row[None, :-1], first=window.done == 1)
            model = network.model if learner is None else learner.model
            log_probs, features = _score(model, states[0], following)
        yield ScoredStretch(log_probs.detach(), features.detach(), following)
        if learner is not None:
            learner.learn(-log_probs.mean())
        on_progress(done, len(places))


def _score(model: Any, states: Tensor, following: Tensor) -> tuple[Tensor, Tensor]:
    """What the last states, one for each following token, say of these: log-probabilities T, and the states T D."""
    features, table, bias = model.head.projection(states[-len(following) :])
    return -F.cross_entropy(wide_linear(features, table, bias), following, reduction="none"), features


class _Reading:
    """A network that reads windows by themselves, or segments in turn: these with the keys and values of those before.

    Keys and values are what the network makes of remembered states, so keeping them is keeping these, for less work.
    """

    def __init__(self, network: CausalNetwork, memory: int) -> None:
        self.network, self.memory = network, memory
        self._cache = network.start_cache()

    def states(self, tokens: Tensor, *, first: bool) -> Tensor:
        """tokens: 1 T, the first of a text or what follows. Returns 1 T D."""
        if first or not self.memory:
            self._cache = self.network.start_cache()
        states = self.network.states(tokens, cache=self._cache)
        if self.memory:
            self._cache.forget(self._cache.span() - self.memory)
        return states


class _LearnersReading:
    """The same of a model that learns meanwhile: its projections change, so that it keeps the states themselves."""

    def __init__(self, learner: DynamicModel, memory: int) -> None:
        self.model, self.memory = learner.model, memory
        self._past: SegmentMemory | None = None

    def states(self, tokens: Tensor, *, first: bool) -> Tensor:
        """The same."""
        if first and self.memory:
            self._past = self.model.start_segment_memory(self.memory)
        states: Tensor = self.model.decoder(tokens, segment_memory=self._past)
        return states
