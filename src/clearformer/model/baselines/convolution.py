"""The convolutional baseline: stacks of gated convolutions, attention in every decoder layer (Gehring et al., 2017).

A layer sees `kernel` neighbours, so n layers see n·(kernel - 1) + 1 positions, all of them at once: parallel like a
Transformer, short-sighted like an n-gram. Sums of two things of size one are multiplied by √0.5, which keeps their
size where a Transformer has norms. Left out: weight normalisation and the scaling of the encoder's gradients, which
change the speed of training and not what is computed; and the maps between widths, since there is one width.

B batch, T target length, S source length, D model width, H heads, K head width, R reach = kernel - 1, V vocabulary.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.model import masks
from clearformer.model.attention import attend, attend_fused, merge, split
from clearformer.model.attention_context import Memory, position_ids
from clearformer.model.cache import Places, join_rows
from clearformer.model.dropout import Dropout
from clearformer.model.trace import note, notes_of

HALF = math.sqrt(0.5)


class GatedConvolution(nn.Module):
    """Mix neighbours, and let one half of the result say how much of the other passes (Dauphin et al., 2017)."""

    def __init__(self, dim: int, kernel: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.conv = nn.Conv1d(dim, 2 * dim, kernel)
        self.dropout = Dropout(dropout)
        # A gate lets a quarter of the variance pass: start four times as large (Gehring et al., 2017, A.3).
        nn.init.normal_(self.conv.weight, std=math.sqrt(4 * (1 - dropout) / (kernel * dim)))
        if self.conv.bias is not None:
            nn.init.zeros_(self.conv.bias)

    def forward(self, x: Tensor) -> Tensor:
        """x: B (R + T) D; returns B T D."""
        return F.glu(self.conv(self.dropout(x).mT).mT, dim=-1)


class ConvolutionalEncoderLayer(nn.Module):
    """A gated convolution that sees both sides, in its residual."""

    def __init__(self, dim: int, *, kernel: int, dropout: float = 0.0) -> None:
        super().__init__()
        if kernel % 2 == 0:
            raise ValueError(f"an encoder sees equally far to both sides, so the kernel must be odd, not {kernel}")
        self.gated, self.side = GatedConvolution(dim, kernel, dropout), kernel // 2

    def forward(self, x: Tensor, keep: Tensor | None) -> Tensor:
        """x: B S D; keep: B S. Returns B S D."""
        if keep is not None:  # padding becomes what lies beyond every edge: zeros
            x = x * keep[..., None]
        output: Tensor = (x + self.gated(F.pad(x, (0, 0, self.side, self.side)))) * HALF
        note(self, "output", output)
        return output


class ConvolutionalEncoder(nn.Module):
    """A front end and gated convolutions. The memory holds two vectors per token, side by side: the key (the
    output) and the value (output and embedding together, so that the word itself is not lost)."""

    def __init__(self, front: nn.Module, layers: Sequence[ConvolutionalEncoderLayer]) -> None:
        super().__init__()
        self.front = front
        self.layers = nn.ModuleList(layers)

    def forward(self, inputs: Tensor, *, keep: Tensor | None = None) -> Memory:
        """inputs: what the front end takes (tokens: B S). keep: B S, True = real. Returns states B S 2D."""
        embedded, keep, _ = self.front(inputs, keep)
        x = embedded
        for layer in self.layers:
            x = layer(x, keep)
        note(self, "output", x)
        return Memory(torch.cat((x, (x + embedded) * HALF), dim=-1), keep)


class ProjectedSource(NamedTuple):
    """The memory as every layer's attention uses it. keys, values: B S D; mask: B 1 1 S; size: √tokens, B 1 1."""

    keys: Tensor
    values: Tensor
    mask: Tensor | None
    size: Tensor | float

    @classmethod
    def of(cls, memory: Memory) -> "ProjectedSource":
        """Take the two vectors of each token apart, and count the tokens."""
        keys, values = memory.states.chunk(2, dim=-1)
        if memory.keep is None:
            return cls(keys, values, None, math.sqrt(keys.size(1)))
        count = memory.keep.sum(dim=1)[:, None, None]  # padding does not count
        return cls(keys, values, masks.padding(memory.keep), count.to(keys.dtype).sqrt())


class HopAttention(nn.Module):
    """A decoder layer's look at the source: plain dot products, no projection of the memory.

    An average of n vectors of size one has size 1/√n, so it is multiplied by √n (section 3.5).
    """

    def __init__(self, dim: int, *, heads: int = 1, dropout: float = 0.0) -> None:
        super().__init__()
        if dim % heads:
            raise ValueError(f"{heads} heads do not divide a width of {dim}; choose a divisor")
        self.q_proj, self.out_proj = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.heads, self.dropout = heads, dropout

    def forward(self, x: Tensor, embedded: Tensor, source: ProjectedSource) -> Tensor:
        """x: B T D, the layer's states; embedded: B T D, the tokens that were written last. Returns B T D."""
        q = split((self.q_proj(x) + embedded) * HALF, self.heads)  # B H T K
        k, v = split(source.keys, self.heads), split(source.values, self.heads)  # B H S K
        dropout = self.dropout if self.training else 0.0
        notes = notes_of(self)
        if notes is None:
            found = attend_fused(q, k, v, mask=source.mask, scale=1.0, dropout=dropout)
        else:
            for label, value in (("q", q), ("k", k), ("v", v)):
                notes(label, value)
            found = attend(q, k, v, mask=source.mask, scale=1.0, dropout=dropout, notes=notes)
            notes("heads", found)
        output: Tensor = self.out_proj(merge(found) * source.size)
        note(self, "output", output)
        return output


class Lineup:
    """The order in which a causal convolution takes its inputs: padding, what went before, then the new real tokens.

    So no real token sees padding, wherever it stands, and padding never pushes anything out of the past. All layers
    of a call share one lineup. keep: B T of the new tokens, None = all real.
    """

    def __init__(self, keep: Tensor | None, reach: int) -> None:
        self.reach = reach
        self.order: Tensor | None = None
        self.place: Tensor | None = None
        if keep is not None:
            rank = F.pad(keep.long() * 2, (reach, 0), value=1)  # 0 padding, 1 past, 2 new
            self.order = rank.argsort(dim=1, stable=True)[..., None]  # B (R + T) 1
            # Where each new token went, counted in outputs; padding may take any output, since it is never read.
            self.place = (self.order.argsort(dim=1)[:, reach:] - reach).clamp(min=0)  # B T 1

    def arrange(self, past: Tensor, x: Tensor) -> Tensor:
        """past: B R D, x: B T D; returns both in order, B (R + T) D. Its last R are the past of the next call."""
        joined = torch.cat((past, x), dim=1)
        return joined if self.order is None else joined.take_along_dim(self.order, dim=1)

    def restore(self, y: Tensor) -> Tensor:
        """Outputs back to the places of their tokens. B T D."""
        return y if self.place is None else y.take_along_dim(self.place, dim=1)


class ConvolutionalDecoderLayer(nn.Module):
    """A gated convolution that looks back, then attention to the source, in one residual."""

    def __init__(self, dim: int, *, kernel: int, cross_attn: HopAttention, dropout: float = 0.0) -> None:
        super().__init__()
        self.gated, self.cross_attn = GatedConvolution(dim, kernel, dropout), cross_attn

    def forward(
        self, x: Tensor, embedded: Tensor, source: ProjectedSource, lineup: Lineup, past: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """x, embedded: B T D; past: B R D, the inputs before x. Returns output B T D and the past of the next call."""
        if past is None:
            past = x.new_zeros(x.size(0), lineup.reach, x.size(-1))
        inputs = lineup.arrange(past, x)
        states = lineup.restore(self.gated(inputs))
        states = (states + self.cross_attn(states, embedded, source)) * HALF
        output = (x + states) * HALF
        note(self, "output", output)
        return output, inputs[:, x.size(1) :]


class ConvolutionCache(Places):
    """What a decoder needs from earlier steps: the last few inputs of each layer."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.past: list[Tensor | None] = [None] * layers  # B R D each

    def select(self, rows: Tensor) -> "ConvolutionCache":
        """The same cache with its batch rows selected: beams reordered, finished rows dropped, or repeated."""
        chosen = ConvolutionCache(0)
        chosen.choose(self, rows)
        chosen.past = [None if past is None else past.index_select(0, rows) for past in self.past]
        return chosen

    def join(self, other: "ConvolutionCache", rows: tuple[int, int]) -> "ConvolutionCache":
        """The rows of both. rows: how many each has; what lies before a first token is zeros."""
        both = ConvolutionCache(0)
        both.unite(self, other, rows)
        both.past = [join_rows(*pasts, rows) for pasts in zip(self.past, other.past, strict=True)]
        return both


class ConvolutionalDecoder(nn.Module):
    """A front end and layers that see a few positions back and all of the source."""

    def __init__(
        self, front: nn.Module, layers: Sequence[ConvolutionalDecoderLayer], *, kernel: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.front = front
        self.layers = nn.ModuleList(layers)
        self.reach = kernel - 1
        self.dropout = Dropout(dropout)

    def forward(
        self, tokens: Tensor, memory: Memory, *, keep: Tensor | None = None, cache: ConvolutionCache | None = None
    ) -> Tensor:
        """tokens: B T. With a cache only the new tokens are given. Returns states B T D."""
        cache = ConvolutionCache(len(self.layers)) if cache is None else cache
        positions = position_ids(tokens.shape, keep, cache.next_position(), device=tokens.device)
        embedded, keep, _ = self.front(tokens, keep, positions)
        cache.place(positions, keep)
        source, lineup = ProjectedSource.of(memory), Lineup(keep, self.reach)
        x = embedded
        for index, layer in enumerate(self.layers):
            x, cache.past[index] = layer(x, embedded, source, lineup, cache.past[index])
        output: Tensor = self.dropout(x)
        note(self, "output", output)
        return output

    def start_cache(self, room: int = 64) -> ConvolutionCache:
        """An empty cache for `forward`; it holds a few inputs and ignores `room`, which other decoders need."""
        return ConvolutionCache(len(self.layers))
