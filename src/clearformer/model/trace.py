"""See what a model computes: named intermediate values of an ordinary forward pass.

There is no second implementation. Modules offer their values with `note(self, "q", q)`; without a trace that costs one
look at a context variable. During a trace attention takes its readable path, so that scores and weights exist.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from fnmatch import fnmatchcase
from typing import Protocol

import torch
from torch import Tensor, nn

_active: ContextVar["Trace | None"] = ContextVar("clearformer_trace", default=None)


class Holder(Protocol):
    """Something that holds a model, such as a translator: names are the model's."""

    model: nn.Module


class Trace(Mapping[str, Tensor]):
    """Recorded values by name, such as "decoder.layers.3.cross_attn.weights".

    `seen[name]` is the value of the last call. A module that ran several times (a decoder, step by step) has them all
    in `seen.history(name)`. Tensors are detached and copied, so later in-place operations cannot change them.
    """

    def __init__(self, model: nn.Module, only: Iterable[str] | None = None) -> None:
        self._patterns = None if only is None else list(only)
        self._values: dict[str, list[Tensor]] = {}
        # A module may have several names (ALBERT runs one layer many times): its n-th note goes to its n-th name.
        self._names: dict[int, list[str]] = {}
        for name, module in model.named_modules(remove_duplicate=False):
            self._names.setdefault(id(module), []).append(name)
        self._count: dict[tuple[int, str], int] = {}

    def record(self, module: nn.Module, label: str, value: Tensor) -> None:
        """Record a value under the module's name in the model; modules of other models are ignored."""
        places = self._names.get(id(module))
        if places is None:
            return
        turn = self._count.get((id(module), label), 0)
        self._count[id(module), label] = turn + 1
        place = places[turn % len(places)]
        name = f"{place}.{label}" if place else label
        if self._patterns is None or any(fnmatchcase(name, pattern) for pattern in self._patterns):
            self._values.setdefault(name, []).append(value.detach().clone())

    def history(self, name: str) -> list[Tensor]:
        """Every value recorded under a name, in the order of the calls."""
        if name not in self._values:
            close = [known for known in self._values if known.rsplit(".", 1)[-1] == name.rsplit(".", 1)[-1]]
            raise KeyError(f"nothing was recorded as {name!r}; names of that kind: {', '.join(close[:4]) or 'none'}")
        return list(self._values[name])

    def __getitem__(self, name: str) -> Tensor:
        return self.history(name)[-1]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


@contextmanager
def trace(model: nn.Module | Holder, only: Iterable[str] | None = None) -> Iterator[Trace]:
    """Record while the block runs. only: shell-style patterns such as "encoder.layers.2.*"; None records everything."""
    seen = Trace(model if isinstance(model, nn.Module) else model.model, only)
    token = _active.set(seen)
    try:
        yield seen
    finally:
        _active.reset(token)


def note(module: nn.Module, label: str, value: Tensor) -> None:
    """Record a value if a trace is running; otherwise do nothing."""
    seen = watcher()
    if seen is not None:
        seen.record(module, label, value)


def notes_of(module: nn.Module) -> Callable[[str, Tensor], None] | None:
    """A function that records values of a module, or None when no trace is running."""
    seen = watcher()
    return None if seen is None else lambda label, value: seen.record(module, label, value)


def watcher() -> Trace | None:
    """The trace that is running, if any. A compiled graph is never traced."""
    return None if torch.compiler.is_compiling() else _active.get()
