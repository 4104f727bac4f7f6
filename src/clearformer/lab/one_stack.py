"""A decoder alone, or an encoder alone, in the place of an encoder–decoder: source and target as one sequence.

From outside both look like an encoder–decoder, so one task trains, scores and searches with all three families.

B batch, S source length, T target length, D width.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.model import masks
from clearformer.model.attention_context import AttentionContext, Memory
from clearformer.model.layers import EncoderLayer


def become_decoder(model: nn.Module) -> None:
    """One stack in which every token sees those before it: the source is the beginning of the text."""
    _join(model, blank=False)


def become_encoder(model: nn.Module) -> None:
    """One stack in which the source is seen from both sides, and the places of the target are blanks to fill in."""
    _join(model, blank=True)


def _join(model: nn.Module, *, blank: bool) -> None:
    """All layers are the encoder's; the decoder's go, but for the table that the output shares."""
    network: Any = model
    reader, writer = network.encoder, network.decoder
    network.encoder = LookUp(reader.front)
    network.decoder = OneStack(writer.front, list(reader.layers), reader.norm, blank=blank)


class LookUp(nn.Module):
    """In the encoder's place: vectors for the tokens, which the one stack reads later."""

    def __init__(self, front: nn.Module) -> None:
        super().__init__()
        self.front = front

    def forward(self, inputs: Tensor, *, keep: Tensor | None = None) -> Memory:
        x, _, _ = self.front(inputs, keep)
        return Memory(x, torch.ones_like(inputs, dtype=torch.bool) if keep is None else keep)


class TokensSoFar:
    """In a cache's place: what was written, since the one stack reads all of it again at every step."""

    def __init__(self, tokens: Tensor | None = None) -> None:
        self.tokens = tokens

    def extend(self, new: Tensor) -> Tensor:
        """All tokens with the new ones behind them."""
        self.tokens = new if self.tokens is None else torch.cat((self.tokens, new), dim=1)
        return self.tokens

    def select(self, rows: Tensor) -> "TokensSoFar":
        """The same with other batch rows."""
        return TokensSoFar(None if self.tokens is None else self.tokens.index_select(0, rows))


class OneStack(nn.Module):
    """In the decoder's place: source and target go through the same layers, one behind the other.

    blank: the target's tokens are hidden, and each of its places sees the source and itself; otherwise every token
    sees those before it.
    """

    def __init__(self, front: nn.Module, layers: Sequence[EncoderLayer], norm: nn.Module, *, blank: bool) -> None:
        super().__init__()
        self.front, self.layers, self.norm, self.blank = front, nn.ModuleList(layers), norm, blank

    def forward(
        self, tokens: Tensor, memory: Memory, *, keep: Tensor | None = None, cache: TokensSoFar | None = None
    ) -> Tensor:
        """tokens: B T, or with a cache the new ones alone. Returns the states of what was given: B T D."""
        new = tokens.size(1)
        tokens = tokens if cache is None else cache.extend(tokens)
        real = memory.keep
        assert real is not None
        sources, targets = real.size(1), tokens.size(1)
        begin = torch.arange(targets).expand(len(tokens), -1)  # the target's places count from its own beginning
        places = torch.cat(((real.cumsum(1) - 1).clamp(min=0), begin), dim=1)
        shown = tokens[:, :1].expand_as(tokens) if self.blank else tokens  # the first one is always the same
        x, _, _ = self.front(shown, None, places[:, sources:])
        x = torch.cat((memory.states, x), dim=1)
        there = torch.cat((real, torch.ones_like(tokens, dtype=torch.bool)), dim=1)
        context = AttentionContext(places, places, mask=masks.both(self._mask(sources, targets), masks.padding(there)))
        for layer in self.layers:
            x = layer(x, context)
        states: Tensor = self.norm(x[:, -new:])
        return states

    def _mask(self, sources: int, targets: int) -> Tensor:
        """Who may look at whom, padding aside: S + T by S + T."""
        length = sources + targets
        if not self.blank:
            return masks.causal(length, length)
        return (torch.arange(length) < sources)[None] | torch.eye(length, dtype=torch.bool)

    def start_cache(self, room: int = 64) -> TokensSoFar:
        """Nothing written yet."""
        return TokensSoFar()
