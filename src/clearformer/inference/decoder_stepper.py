"""A decoder-only model behind the decoders' protocol."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from clearformer.inference.causal_network import CausalNetwork
from clearformer.model.cache import DecoderCache


@dataclass
class DecoderState:
    """What a decoder alone remembers between steps."""

    cache: DecoderCache
    rows: int

    def select(self, rows: Tensor) -> "DecoderState":
        return DecoderState(self.cache.select(rows), len(rows))

    def join(self, other: "DecoderState") -> "DecoderState":
        """The rows of both; the shorter text stands to the right, behind padding."""
        counts = self.rows, other.rows
        return DecoderState(self.cache.join(other.cache, counts), sum(counts))


class DecoderStepper:
    """Any number of texts at a time; a source is the ids of one prompt a row."""

    def __init__(self, network: CausalNetwork) -> None:
        self.network, self.device = network, network.device

    def start(self, source: Sequence[Sequence[int]]) -> tuple[Tensor, DecoderState]:
        """Read all but the last token of every prompt; shorter prompts stand to the right, behind padding."""
        if len(source) > 1 and all(row == source[0] for row in source):  # several samples: read the prompt once
            first, state = self.start(source[:1])
            rows = torch.zeros(len(source), dtype=torch.int64, device=self.device)
            return first[rows], state.select(rows)
        width = max(map(len, source))
        tokens = torch.tensor([[0] * (width - len(row)) + list(row) for row in source], device=self.device)
        keep = torch.arange(width) >= width - torch.tensor([[len(row)] for row in source])
        cache = self.network.start_cache()
        if width > 1:
            self.network.read(tokens[:, :-1], keep=keep[:, :-1].to(self.device), cache=cache)
        return tokens[:, -1], DecoderState(cache, len(source))

    def step(self, tokens: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Feed one token to every row and return the logits of the next."""
        return self.network.logits(tokens[:, None], cache=state.cache)[:, -1], state
