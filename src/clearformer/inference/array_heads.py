"""The heads of models that read, in NumPy: what the states of the fast engine are turned into.

They are one or two products with small matrices. `model/heads.py` explains each, and a test compares every number.

B batch, T length, D model width, C classes. `lengths`: how many of the T states of each row are real; they stand first.
"""

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from clearformer.foundation.storage import DamagedError
from clearformer.model.config import HeadConfig

Array = NDArray[np.float32]
Lengths = NDArray[np.int64]
Head = Callable[[Array, Lengths], Array]

_erf = np.frompyfunc(math.erf, 1, 1)
ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: x * 0.5 * (1 + _erf(x / math.sqrt(2)).astype(np.float32)),
    "gelu-tanh": lambda x: x * 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "quick-gelu": lambda x: x / (1 + np.exp(-1.702 * x)),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "tanh": np.tanh,
}


def array_head(config: HeadConfig, weights: Mapping[str, Array]) -> Head:
    """The head that a configuration describes: states B T D and lengths B -> B C, B T C, B T 2 or the states."""

    def linear(name: str, *, bias: bool = True) -> Callable[[Array], Array]:
        """x @ W + b, with the weights of this name."""
        try:
            matrix = np.ascontiguousarray(weights[f"head.{name}.weight"].T)
            added = weights[f"head.{name}.bias"] if bias else np.float32(0)
        except KeyError as error:
            raise DamagedError(f"the weights of the head lack {error}; make the folder again") from None
        return lambda x: np.asarray(x @ matrix + added)

    if config.kind == "class":
        summarise = _summary(config, linear)
        classify = linear("classify", bias=config.class_bias)
        return lambda states, lengths: classify(summarise(states, lengths))
    if config.kind == "tags":
        tag = linear("classify")
        return lambda states, lengths: tag(states)
    if config.kind == "span":
        mark = linear("mark")
        return lambda states, lengths: np.where(_real(states, lengths), mark(states), np.finfo(np.float32).min)
    if config.kind == "states":
        return lambda states, lengths: states
    raise ValueError(f"there is no head for {config.kind} in NumPy; use the torch engine")


def _summary(config: HeadConfig, linear: Callable[[str], Callable[[Array], Array]]) -> Head:
    """One vector per row: B D."""
    pools: dict[str, Callable[[], Head]] = {
        "first": lambda: _first,
        "last": lambda: _last,
        "mean": lambda: mean_state,
        "weighted": lambda: _weighted(linear("pool.weigh")),
    }
    pool = pools[config.pool]()
    if not config.pooler:
        return pool
    pooler, activation = linear("pooler"), ACTIVATIONS[config.pooler_activation]
    return lambda states, lengths: activation(pooler(pool(states, lengths)))


def _first(states: Array, lengths: Lengths) -> Array:
    return states[:, 0]


def _last(states: Array, lengths: Lengths) -> Array:
    last: Array = states[np.arange(len(states)), np.maximum(lengths, 1) - 1]
    return last


def mean_state(states: Array, lengths: Lengths) -> Array:
    """The mean of the real states: B D."""
    total = np.where(_real(states, lengths), states, 0).sum(axis=1)
    mean: Array = total / np.maximum(lengths, 1)[:, None].astype(np.float32)
    return mean


def _weighted(weigh: Callable[[Array], Array]) -> Head:
    """The mean of the real states, each as heavy as what it holds says: B D."""

    def pool(states: Array, lengths: Lengths) -> Array:
        scores = np.where(_real(states, lengths), weigh(states), np.finfo(np.float32).min)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        mean: Array = (weights * states).sum(axis=1) / weights.sum(axis=1)
        return mean

    return pool


def _real(states: Array, lengths: Lengths) -> NDArray[np.bool_]:
    """B T 1: which states belong to tokens and not to padding."""
    real: NDArray[np.bool_] = (np.arange(states.shape[1])[None] < lengths[:, None])[..., None]
    return real
