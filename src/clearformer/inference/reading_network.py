"""A network that reads texts or pictures, by the fastest path that supports it: `Encoder` as written, or its twin.

The twin leaves padding out and keeps its weights packed. While somebody traces, the readable path runs, because only
that one names its values. B batch, T length, D model width.
"""

from typing import Any

from torch import Tensor, nn

from clearformer.model.fast.encoder import FastEncoder, capture_encoder
from clearformer.model.fast.packed import Affine
from clearformer.model.trace import watcher
from clearformer.model.transformer import EncoderOnly


class ReadingNetwork:
    """Any model that a reader uses."""

    def __init__(self, model: nn.Module) -> None:
        self.model: Any = model
        self._fast: FastEncoder | None = None
        self._known = isinstance(model, EncoderOnly)

    def __call__(self, tokens: Tensor, keep: Tensor | None = None, types: Tensor | None = None) -> Tensor:
        """What the head says. tokens, keep, types: B T; or pictures, B C Y X."""
        fast = self._captured(tokens)
        if fast is None:
            output: Tensor = self.model(tokens, keep=keep, **({} if types is None else {"types": types}))
        elif keep is None and getattr(self.model.head, "reads_first", False):
            output = self.model.head(fast.first(tokens))
        else:
            output = self.model.head(fast.read(tokens, keep, types).states, keep)
        return output

    def states(self, tokens: Tensor, keep: Tensor) -> Tensor:
        """The states without the head: B T D."""
        fast = self._captured(tokens)
        states: Tensor = (self.model.encode(tokens, keep=keep) if fast is None else fast.read(tokens, keep)).states
        return states

    def _captured(self, tokens: Tensor) -> FastEncoder | None:
        """The faster twin with the weights as they are now; None where the readable path has to run."""
        if not self._known or watcher() is not None or tokens.device.type != "cpu":
            return None
        if self._fast is None or self._fast.stale():
            self._fast = capture_encoder(self.model.encoder, Affine.of, block=1)  # no search hangs on a last bit
            self._known = self._fast is not None
        return self._fast
