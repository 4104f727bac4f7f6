"""A decoder whose keys and values stay between one prompt and the next, as far as both begin with the same tokens."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from clearformer.inference.causal_network import CausalNetwork
from clearformer.inference.decoder_stepper import DecoderState

CHUNK = 256  # tokens that are read before somebody may stop; the scores of more would also take much memory


class Stopped(Exception):  # noqa: N818 - no error: somebody has had enough
    """Reading a prompt was stopped. What has been read is kept."""


class KeptStepper:
    """One conversation behind the decoders' protocol. A source is one row of ids.

    `ids` are the tokens whose keys and values the cache holds. They are counted after the model has read them, so a
    cache that was left in the middle of a step is cut back to them.
    """

    def __init__(self, network: CausalNetwork, stopped: Callable[[], bool] = lambda: False) -> None:
        self.network, self.stopped = network, stopped
        self.device = network.device
        self.ids: list[int] = []
        self.read = 0  # tokens of the last prompt that were not in the cache
        self._cache = network.start_cache()

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
            self.network.read(torch.tensor([part], device=self.device), cache=self._cache)
            self.ids += part
        return torch.tensor([prompt[-1]], device=self.device), DecoderState(self._cache, 1)

    def step(self, tokens: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """One token more."""
        logits = self.network.logits(tokens[:, None], cache=state.cache)
        self.ids += tokens.tolist()
        return logits[:, -1], state

    def check(self, tokens: Sequence[int], state: DecoderState) -> Tensor:
        """Several tokens at once, and the logits of what follows each of them: T V."""
        logits = self.network.logits(torch.tensor([list(tokens)], device=self.device), cache=state.cache)
        self.ids += tokens
        return logits[0]

    def forget(self, count: int, state: DecoderState) -> None:
        """Take the last tokens back."""
        del self.ids[len(self.ids) - count :]
        state.cache.cut(len(self.ids))


def common_length(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two rows begin with in common."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
