"""See what a model computes: named intermediate values of an ordinary forward pass.

There is no second implementation. Modules say what they hold with `note(self, "q", q)`; while nobody traces, that is
one look at a context variable. While somebody does, attention takes its readable path, so that scores and weights
exist.
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
    """Something that uses a model, such as a translator: names are the model's own."""

    model: nn.Module


class Trace(Mapping[str, Tensor]):
    """Recorded values by name, such as "decoder.layers.3.cross_attn.weights".

    `seen[name]` is the value of the last call. A module that ran several times (a decoder, step by step) has them all
    in `seen.history(name)`. Tensors are detached and copied, so later in-place work cannot change what was seen.
    """

    def __init__(self, model: nn.Module, only: Iterable[str] | None = None) -> None:
        self._patterns = None if only is None else list(only)
        self._values: dict[str, list[Tensor]] = {}
        # A module may stand at several places (ALBERT runs one layer many times): its n-th note goes to its n-th name.
        self._names: dict[int, list[str]] = {}
        for name, module in model.named_modules(remove_duplicate=False):
            self._names.setdefault(id(module), []).append(name)
        self._count: dict[tuple[int, str], int] = {}

    def record(self, module: nn.Module, label: str, value: Tensor) -> None:
        """Keep a value under the module's place in the model; modules of other models are passed over."""
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
    """Offer a value to whoever is looking; does nothing otherwise."""
    seen = watcher()
    if seen is not None:
        seen.record(module, label, value)


def notes_of(module: nn.Module) -> Callable[[str, Tensor], None] | None:
    """A function that notes values in a module's name, or None while nobody looks."""
    seen = watcher()
    return None if seen is None else lambda label, value: seen.record(module, label, value)


def watcher() -> Trace | None:
    """The trace that is running, if any. A compiled graph has nobody to show its values to."""
    return None if torch.compiler.is_compiling() else _active.get()
