"""The likelihood of long texts: windows that overlap, every token scored once, with or without a memory.

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


def measure(
    network: CausalNetwork,
    texts: Sequence[Sequence[int]],
    config: LikelihoodConfig,
    *,
    context: int,
    stride: int,
    on_progress: OnProgress = unwatched,
) -> dict[str, Likelihood]:
    """The plain likelihood under "", and, where config asks for them, those with a memory: "cache", "dynamic" and
    "dynamic_cache", of the same tokens in the same windows. A window never has tokens of two texts; a memory goes on.
    """
    found: dict[str, Likelihood] = {}
    for name in ("", "dynamic") if config.dynamic else ("",):
        learner = DynamicModel(network.model, rate=config.dynamic, decay=config.dynamic_decay) if name else None
        cache = ContinuousCache(config.cache, theta=config.cache_theta, share=config.cache_share)
        plain, mixed = [], []
        for scored in _read(network, texts, context=context, stride=stride, learner=learner, on_progress=on_progress):
            plain.append((-scored.log_probs).tolist())
            if config.cache:
                mixed.append((-cache.mix(*scored)).tolist())
        found[name] = Likelihood(blocks=plain, context=context, stride=stride)
        if config.cache:
            found[f"{name}_cache".strip("_")] = Likelihood(blocks=mixed, context=context, stride=stride)
    return found


def _read(
    network: CausalNetwork,
    texts: Sequence[Sequence[int]],
    *,
    context: int,
    stride: int,
    learner: DynamicModel | None,
    on_progress: OnProgress,
) -> Iterator[ScoredStretch]:
    """Stretch by stretch. What a learner takes from one is not used before the next."""
    places = [(text, window) for text in texts for window in windows(len(text), context=context, stride=stride)]
    for done, (text, window) in enumerate(places, start=1):
        row = torch.tensor(text[window.begin : window.end], device=network.device)
        following = row[window.done - window.end :]
        if learner is None:
            with torch.inference_mode():
                states = network.states(row[None, :-1], cache=network.start_cache())
                log_probs, features = _score(network.model, states[0], following)
        else:
            with torch.inference_mode(False), torch.enable_grad():
                log_probs, features = _score(learner.model, learner.model.decoder(row[None, :-1])[0], following)
        yield ScoredStretch(log_probs.detach(), features.detach(), following)
        if learner is not None:
            learner.learn(-log_probs.mean())
        on_progress(done, len(places))


def _score(model: Any, states: Tensor, following: Tensor) -> tuple[Tensor, Tensor]:
    """What the last states, one for each following token, say of these: log-probabilities T, and the states T D."""
    features, table, bias = model.head.projection(states[-len(following) :])
    return -F.cross_entropy(F.linear(features, table, bias), following, reduction="none"), features
