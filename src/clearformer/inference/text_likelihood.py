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
    model: Any,
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
        learner = DynamicModel(model, rate=config.dynamic, decay=config.dynamic_decay) if name else None
        cache = ContinuousCache(config.cache, theta=config.cache_theta, share=config.cache_share)
        plain, mixed = [], []
        for scored in _read(model, texts, context=context, stride=stride, learner=learner, on_progress=on_progress):
            plain.append((-scored.log_probs).tolist())
            if config.cache:
                mixed.append((-cache.mix(*scored)).tolist())
        found[name] = Likelihood(blocks=plain, context=context, stride=stride)
        if config.cache:
            found[f"{name}_cache".strip("_")] = Likelihood(blocks=mixed, context=context, stride=stride)
    return found


def _read(
    model: Any,
    texts: Sequence[Sequence[int]],
    *,
    context: int,
    stride: int,
    learner: DynamicModel | None,
    on_progress: OnProgress,
) -> Iterator[ScoredStretch]:
    """Stretch by stretch. What a learner takes from one is not used before the next."""
    network: Any = model if learner is None else learner.model
    device = next(network.parameters()).device
    places = [(text, window) for text in texts for window in windows(len(text), context=context, stride=stride)]
    for done, (text, window) in enumerate(places, start=1):
        row = torch.tensor(text[window.begin : window.end], device=device)
        following = row[window.done - window.end :]
        with torch.inference_mode(learner is None), torch.set_grad_enabled(learner is not None):
            states = network.decoder(row[None, :-1])[0, -len(following) :]
            features, table, bias = network.head.projection(states)
            log_probs = -F.cross_entropy(F.linear(features, table, bias), following, reduction="none")
        yield ScoredStretch(log_probs.detach(), features.detach(), following)
        if learner is not None:
            learner.learn(-log_probs.mean())
        on_progress(done, len(places))
