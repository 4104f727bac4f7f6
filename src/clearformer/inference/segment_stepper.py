"""Writing with Transformer-XL's memory: a text of any length, read and written in the segments of training.

After every segment all but the memory is forgotten, so a token sees what it would have seen in training: its own
segment so far, and the states of the tokens before that. Kept are keys and values, not the states they are made of.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from clearformer.inference.causal_network import CausalNetwork
from clearformer.inference.decoder_stepper import DecoderState


@dataclass
class SegmentState:
    """The state of the model, and how many tokens of each row it has read: segments are counted in these."""

    inner: DecoderState
    read: list[int]

    def select(self, rows: Tensor) -> "SegmentState":
        return SegmentState(self.inner.select(rows), [self.read[row] for row in rows.tolist()])

    def join(self, other: "SegmentState") -> "SegmentState":
        return SegmentState(self.inner.join(other.inner), [*self.read, *other.read])


class SegmentStepper:
    """A stepper over prompts of ids. Each row has segments of its own, so its text is that which is written alone."""

    def __init__(self, network: CausalNetwork, *, length: int, memory: int) -> None:
        if min(length, memory) < 1:
            raise ValueError(f"a segment of {length} tokens with a memory of {memory} is none; give at least 1 of each")
        self.network, self.device = network, network.device
        self.length, self.memory = length, memory

    @property
    def room(self) -> int:
        """Tokens of a text before anything is forgotten."""
        return (self.memory // self.length + 1) * self.length

    def start(self, source: Sequence[Sequence[int]]) -> tuple[Tensor, SegmentState]:
        """Read all but the last token of every prompt, segment by segment; the same prompt is read once."""
        known: dict[tuple[int, ...], int] = {}
        places = [known.setdefault(tuple(row), len(known)) for row in source]
        first, *others = [self._read(row) for row in known]
        for other in others:
            first = first.join(other)
        if len(known) < len(source):
            first = first.select(torch.tensor(places, device=self.device))
        return torch.tensor([row[-1] for row in source], device=self.device), first

    def _read(self, row: Sequence[int]) -> SegmentState:
        state = SegmentState(DecoderState(self.network.start_cache(), 1), [0])
        for begin in range(0, len(row) - 1, self.length):
            part = row[begin : min(begin + self.length, len(row) - 1)]
            self.network.read(torch.tensor([part], device=self.device), cache=state.inner.cache)
            state.read = [begin + len(part)]
            self._forget(state)
        return state

    def step(self, tokens: Tensor, state: SegmentState) -> tuple[Tensor, SegmentState]:
        """Feed one token to every row and return the logits of the next."""
        logits = self.network.logits(tokens[:, None], cache=state.inner.cache)
        state.read = [count + 1 for count in state.read]
        self._forget(state)
        return logits[:, -1], state

    def _forget(self, state: SegmentState) -> None:
        """What the rows whose segment is complete need no more."""
        complete = [count % self.length == 0 for count in state.read]
        if any(complete):
            state.inner.cache.hide(torch.tensor(complete, device=self.device), self.memory)
