"""Autoencoders: compress an input to a few numbers and reconstruct it from these alone.

Two variants with one interface (`encode`, `decode`, `forward`, `loss`): real numbers, judged by the mean squared error,
and tokens, judged by cross-entropy. B batch, T length, D model width, Z bottleneck, V vocabulary.
"""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.model.attention_context import position_ids
from clearformer.model.dropout import Dropout
from clearformer.model.frontends import Embedded
from clearformer.model.positions import NoPosition
from clearformer.model.trace import note
from clearformer.model.transformer import Decoder, Encoder


class VectorAutoencoder(nn.Module):
    """Numbers of any shape (vectors, pictures) through a bottleneck and back (Hinton and Salakhutdinov, 2006).

    layers: how many projections each half has, with an activation between them. One makes it linear, and a linear
    autoencoder finds the space of the principal components (Baldi and Hornik, 1989).
    """

    def __init__(
        self,
        shape: Sequence[int],
        bottleneck: int,
        *,
        hidden_dim: int = 0,
        layers: int = 1,
        activation: Callable[[Tensor], Tensor] = F.relu,
    ) -> None:
        super().__init__()
        self.shape, self.activation = tuple(shape), activation
        widths = [math.prod(self.shape), *[hidden_dim] * (layers - 1), bottleneck]
        self.encoder = _projections(widths)
        self.decoder = _projections(widths[::-1])

    def encode(self, x: Tensor) -> Tensor:
        """x: B and then the shape; returns the code, B Z."""
        if x.shape[1:] != self.shape:
            expected = " × ".join(str(size) for size in self.shape)
            raise ValueError(f"the input must be batch × {expected}, not {tuple(x.shape)}")
        code = self._run(self.encoder, x.flatten(1))
        note(self, "code", code)
        return code

    def decode(self, code: Tensor) -> Tensor:
        """code: B Z; returns the reconstruction, B and then the shape."""
        output = self._run(self.decoder, code).view(-1, *self.shape)
        note(self, "reconstruction", output)
        return output

    def forward(self, x: Tensor) -> Tensor:
        """The reconstruction of x."""
        return self.decode(self.encode(x))

    def loss(self, x: Tensor) -> Tensor:
        """The squared error, averaged over all numbers."""
        return F.mse_loss(self(x), x)

    def _run(self, projections: nn.ModuleList, x: Tensor) -> Tensor:
        for index, projection in enumerate(projections):
            x = projection(x if index == 0 else self.activation(x))
        return x


def _projections(widths: Sequence[int]) -> nn.ModuleList:
    return nn.ModuleList(nn.Linear(*pair) for pair in pairwise(widths))


class CodeFrontend(nn.Module):
    """The input of a decoder that is given a code and no tokens: the code plus the position, at every position."""

    def __init__(self, bottleneck: int, dim: int, position: NoPosition, dropout: float = 0.0) -> None:
        super().__init__()
        self.widen = nn.Linear(bottleneck, dim)
        self.position, self.dropout = position, Dropout(dropout)

    def forward(self, code: Tensor, keep: Tensor | None, positions: Tensor) -> Embedded:
        """code: B Z, positions: 1 T; returns B T D."""
        place = self.position.embed(positions)
        if place is None:
            raise ValueError(
                "the positions of a code differ only by an embedded position; choose sinusoidal or learned ones"
            )
        x = self.dropout(self.widen(code)[:, None] + place.to(code.dtype))
        note(self, "output", x)
        return Embedded(x, keep, positions)


class SequenceAutoencoder(nn.Module):
    """A token sequence through a bottleneck and back: the encoder's states are averaged and projected to one code.

    The decoder sees the code and nothing else. It is not shown the tokens before (as in Dai and Le, 2015): with them it
    could guess much of a text without the code. It looks back only, so that the output at one position does not depend
    on how many positions are asked for.
    """

    def __init__(
        self, encoder: Encoder, decoder: Decoder, head: nn.Module, *, dim: int, bottleneck: int, max_len: int
    ) -> None:
        super().__init__()
        self.encoder, self.decoder, self.head = encoder, decoder, head
        self.code_proj = nn.Linear(dim, bottleneck)
        self.max_len = max_len

    def encode(self, x: Tensor, *, keep: Tensor | None = None) -> Tensor:
        """x: B T tokens; keep: B T, True = real. Returns the code, B Z."""
        states = self.encoder(x, keep=keep).states
        real = torch.ones_like(x, dtype=states.dtype) if keep is None else keep.to(states.dtype)
        mean = (states * real[..., None]).sum(dim=1) / real.sum(dim=1, keepdim=True).clamp(min=1)
        code: Tensor = self.code_proj(mean)
        note(self, "code", code)
        return code

    def decode(self, code: Tensor, length: int | None = None) -> Tensor:
        """code: B Z; length: how many tokens to reconstruct, max_len if not given. Returns logits B T V."""
        places = torch.arange(self.max_len if length is None else length, device=code.device)[None]
        logits: Tensor = self.head(self.decoder(code, positions=places))
        note(self, "logits", logits)
        return logits

    def forward(self, x: Tensor, *, keep: Tensor | None = None) -> Tensor:
        """x: B T tokens; returns logits for the same tokens, B T V."""
        logits = self.decode(self.encode(x, keep=keep), x.size(1))
        if keep is None:
            return logits
        places = position_ids(
            x.shape, keep, device=x.device
        )  # the decoder begins with the first token, wherever it stands
        return logits.take_along_dim(places[..., None], dim=1)

    def loss(self, x: Tensor, *, keep: Tensor | None = None) -> Tensor:
        """Cross-entropy, averaged over the real tokens."""
        logits = self(x, keep=keep)
        real = torch.ones_like(x, dtype=torch.bool) if keep is None else keep
        return F.cross_entropy(logits[real], x[real])
