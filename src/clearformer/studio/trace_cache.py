"""A cache for recorded values of forward passes.

A page asks for a few names at a time. A pass that records only those costs little memory and, for models that an
ordinary computer runs, little time; recording everything of a long input would take gigabytes. The newest answers stay.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

from torch import Tensor

from clearformer.model.trace import trace
from clearformer.serving.admission import Turns
from clearformer.studio.shown_model import Pass, ShownModel

ROOM = 256 * 2**20  # bytes

Values = dict[str, Tensor]
Key = tuple[Pass, tuple[str, ...]]


class TraceCache:
    """What the model computed, by forward pass and by name; tensors have lost their batch dimension."""

    def __init__(self, shown_model: ShownModel, turns: Turns, *, room: int = ROOM) -> None:
        self.shown_model, self._turns, self._room = shown_model, turns, room
        self._kept: OrderedDict[Key, Values] = OrderedDict()
        self._lock = threading.Lock()

    def values(self, look: Pass, patterns: Sequence[str], *, left: Callable[[], bool] = lambda: False) -> Values:
        """Everything whose name fits one of the patterns (shell style). left: nobody waits for it any more."""
        key = (look, tuple(patterns))
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        with self._turns.mine(left), trace(self.shown_model.model, only=patterns) as recorded:
            self.shown_model.run(look)
        found = {name: recorded[name][0] for name in recorded}
        with self._lock:
            self._kept[key] = found
            self._make_room()
        return found

    def value(self, look: Pass, name: str) -> Tensor:
        """One value by its name."""
        found = self.values(look, [name])
        if name not in found:
            raise ValueError(f"this model has no value named {name[:120]!r}")
        return found[name]

    def _make_room(self) -> None:
        while len(self._kept) > 1 and sum(map(_bytes, self._kept.values())) > self._room:
            self._kept.popitem(last=False)


def _bytes(values: Values) -> int:
    return sum(value.nbytes for value in values.values())
