"""A decoder whose keys and values stay between one prompt and the next, as far as both begin with the same tokens."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from clearformer.inference.text_generator import DecoderState
from clearformer.model.cache import DecoderCache

CHUNK = 256  # tokens that are read before somebody may stop; the scores of more would also take much memory


class Stopped(Exception):  # noqa: N818 - no error: somebody has had enough
    """Reading a prompt was stopped. What has been read is kept."""


class KeptStepper:
    """One conversation behind the decoders' protocol. A source is one row of ids.

    `ids` are the tokens whose keys and values the cache holds. They are counted after the model has read them, so a
    cache that was left in the middle of a step is cut back to them.
    """

    def __init__(self, model: Any, stopped: Callable[[], bool] = lambda: False) -> None:
        self.model, self.stopped = model, stopped
        self.device = next(model.parameters()).device
        self.ids: list[int] = []
        self.read = 0  # tokens of the last prompt that were not in the cache
        self._cache: DecoderCache = model.start_cache()

    @torch.inference_mode()
    def start(self, source: Sequence[Sequence[int]]) -> tuple[Tensor, DecoderState]:
        """Read what the cache does not hold yet, up to the last token."""
        [prompt] = source
        kept = common_length(self.ids, prompt[:-1])
        self.ids = self.ids[:kept]
        self._cache.cut(kept)
        self.read = len(prompt) - kept
        for begin in range(kept, len(prompt) - 1, CHUNK):
            if self.stopped():
                raise Stopped
            part = list(prompt[begin : min(begin + CHUNK, len(prompt) - 1)])
            self.model.decoder(torch.tensor([part], device=self.device), cache=self._cache)
            self.ids += part
        return torch.tensor([prompt[-1]], device=self.device), DecoderState(self._cache, 1)

    @torch.inference_mode()
    def step(self, tokens: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """One token more."""
        logits: Tensor = self.model(tokens[:, None], cache=state.cache)
        self.ids += tokens.tolist()
        return logits[:, -1], state


def common_length(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two rows begin with in common."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
