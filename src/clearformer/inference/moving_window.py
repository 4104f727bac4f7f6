"""Writing past the context that a model was trained on: when it is full, the older half is forgotten.

Positions that a model never saw in training make it write nonsense, and a learned table has no more rows at all. So the
newer half of what was read is read again from position 0, and writing continues behind it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from clearformer.decoding.protocol import Stepper


@dataclass
class WindowState:
    """The state of the model, and for each row the tokens that its window holds."""

    inner: Any
    held: list[list[int]]

    def select(self, rows: Tensor) -> "WindowState":
        return WindowState(self.inner.select(rows), [list(self.held[row]) for row in rows.tolist()])

    def join(self, other: "WindowState") -> "WindowState":
        return WindowState(self.inner.join(other.inner), [*self.held, *other.held])


class WindowStepper:
    """A stepper over prompts of ids whose rows never hold more than `window` tokens."""

    def __init__(self, stepper: Stepper[Any], window: int) -> None:
        if window < 2:
            raise ValueError(f"a window of {window} tokens cannot move; it needs at least 2")
        self._stepper, self._window = stepper, window

    def start(self, source: Sequence[Sequence[int]]) -> tuple[Tensor, WindowState]:
        first, inner = self._stepper.start(source)
        return first, WindowState(inner, [list(row[:-1]) for row in source])

    def step(self, tokens: Tensor, state: WindowState) -> tuple[Tensor, WindowState]:
        held = state.held
        for row, token in zip(held, tokens.tolist(), strict=True):
            row.append(token)
        if max(map(len, held)) <= self._window:
            logits, inner = self._stepper.step(tokens, state.inner)
            return logits, WindowState(inner, held)
        # Each row forgets by its own length alone, so that its text does not depend on the rows beside it.
        kept = [row[-(self._window // 2 + 1) :] if len(row) > self._window else row for row in held]
        last, inner = self._stepper.start(kept)
        logits, inner = self._stepper.step(last, inner)
        return logits, WindowState(inner, kept)


def moves(window: int, prompt: int, new: int) -> bool:
    """Whether a text of so many tokens can outgrow the window. The last token written is never read."""
    return prompt + new - 1 > window
