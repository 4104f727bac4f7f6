"""How a Transformer knows the order of its input: one class per scheme.

A scheme overrides one of three hooks that otherwise do nothing: add a vector to the embeddings, rotate queries and
keys, or add a bias to the scores. Position ids are explicit integers, so a scheme need not know about padding or
caches.

B batch, T query length, S key length, D model width, H heads, K head width.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from clearformer.model.attention_context import AttentionContext

Project = Callable[[Tensor], Tensor]  # from vectors B N D to queries or keys B H N K


class NoPosition(nn.Module):
    """No order at all (the base of every scheme): the model sees a set."""

    parts = 1  # how many products a score sums up: their usual scale is 1/√(K · parts)

    def embed(self, positions: Tensor) -> Tensor | None:
        """What to add to the embeddings. positions: B T; returns B T D."""
        return None

    def rotate_queries(self, q: Tensor, context: AttentionContext) -> Tensor:
        """Rotate the queries. q: B H T K."""
        return q

    def rotate_keys(self, k: Tensor, context: AttentionContext) -> Tensor:
        """Rotate the keys that are new in this call. k: B G S K."""
        return k

    def bias(self, q: Tensor, k: Tensor, context: AttentionContext) -> Tensor | None:
        """What to add to the scaled scores; broadcasts to B H T S."""
        return None

    def match(
        self, q: Tensor, k: Tensor, context: AttentionContext, as_queries: Project, as_keys: Project
    ) -> Tensor | None:
        """The same, for a scheme whose vectors may go through the layer's projections of tokens."""
        return self.bias(q, k, context)


class Sinusoidal(NoPosition):
    """Fixed waves added to the embeddings, sine and cosine alternating (Vaswani et al., 2017, section 3.5).

    PE(p, 2i) = sin(p / base^(2i/D)), PE(p, 2i+1) = cos(p / base^(2i/D)). PE(p + k) is
    a rotation of PE(p) that depends on k alone.
    """

    def __init__(self, dim: int, base: float = 10_000.0, *, offset: int = 0) -> None:
        super().__init__()
        if dim % 2:
            raise ValueError(f"sinusoidal positions pair the features, so the width must be even, not {dim}")
        self.dim, self.base, self.offset = dim, base, offset  # OpenNMT-tf counts from 1: offset

    def frequencies(self, device: torch.device) -> Tensor:
        """Radians per position, from fast to slow: D/2."""
        exponent = torch.arange(0, self.dim, 2, device=device, dtype=torch.float64) / self.dim
        return torch.pow(self.base, -exponent)

    def embed(self, positions: Tensor) -> Tensor:
        # Angles reach thousands of radians, where float32 has three decimals left: compute them in float64.
        angles = (positions[..., None] + self.offset).double() * self.frequencies(positions.device)
        return self.arrange(angles.sin().float(), angles.cos().float())

    def arrange(self, sines: Tensor, cosines: Tensor) -> Tensor:
        """Put D/2 sines and D/2 cosines into D features."""
        return torch.stack((sines, cosines), dim=-1).flatten(-2)


class SplitSinusoidal(Sinusoidal):
    """The paper's waves with all sines first, then all cosines, as Marian stores them."""

    def arrange(self, sines: Tensor, cosines: Tensor) -> Tensor:
        return torch.cat((sines, cosines), dim=-1)


class Tensor2TensorSinusoidal(SplitSinusoidal):
    """The layout of the authors' own code, which fairseq and Whisper follow: halves, the slowest wave just `base`."""

    def frequencies(self, device: torch.device) -> Tensor:
        steps = torch.arange(self.dim // 2, device=device, dtype=torch.float64)
        return torch.exp(-math.log(self.base) / max(self.dim // 2 - 1, 1) * steps)


class Learned(NoPosition):
    """A trained vector for each position, up to a limit (Gehring et al., 2017; BERT, GPT-2)."""

    def __init__(self, max_len: int, dim: int, *, offset: int = 0) -> None:
        super().__init__()
        self.max_len, self.offset = max_len, offset
        self.table = nn.Embedding(max_len + offset, dim)  # BART and RoBERTa leave the first rows unused: offset

    def embed(self, positions: Tensor) -> Tensor:
        try:
            table: Tensor = self.table(positions + self.offset)
        except IndexError as error:
            asked = int(positions.max()) + 1
            raise ValueError(
                f"the input is {asked} tokens long, but this model learned only {self.max_len} positions; shorten it"
            ) from error
        return table


class Rotary(NoPosition):
    """Rotate each pair of features by an angle that grows with the position, so that q·k depends on the distance only
    (Su et al., 2021).

    pairs: "neighbours" rotates features (0,1), (2,3), … as in the paper (RoFormer); "halves" rotates (0, K/2),
    (1, K/2+1), … as in Llama. scaling stretches the angles to reach past the trained length: "linear" divides
    positions by `factor` (Chen et al., 2023), "ntk" raises the base, which changes the fast waves little.
    """

    def __init__(
        self,
        head_dim: int,
        base: float = 10_000.0,
        *,
        pairs: Literal["neighbours", "halves"] = "halves",
        scaling: Literal["none", "linear", "ntk"] = "none",
        factor: float = 1.0,
        bend: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        """head_dim: how many features turn; of a wider head, the first ones. bend: from frequencies to others."""
        super().__init__()
        if head_dim % 2:
            raise ValueError(f"rotary positions rotate pairs of features, so head_dim must be even, not {head_dim}")
        self.head_dim, self.pairs, self.bend = head_dim, pairs, bend
        self.base = base * factor ** (head_dim / max(head_dim - 2, 1)) if scaling == "ntk" else base
        self.stretch = factor if scaling == "linear" else 1.0

    def turn(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Cosines and sines of every angle. positions: B T; returns B 1 T K/2 each."""
        exponent = torch.arange(0, self.head_dim, 2, device=positions.device, dtype=torch.float64) / self.head_dim
        frequencies = torch.pow(self.base, -exponent)
        frequencies = frequencies if self.bend is None else self.bend(frequencies)
        angles = positions[..., None].double() / self.stretch * frequencies
        return angles.cos().float()[:, None], angles.sin().float()[:, None]

    def rotate_queries(self, q: Tensor, context: AttentionContext) -> Tensor:
        return self.rotate(q, *context.once((self, "queries"), lambda: self.turn(context.queries)))

    def rotate_keys(self, k: Tensor, context: AttentionContext) -> Tensor:
        return self.rotate(k, *context.once((self, "keys"), lambda: self.turn(context.fresh)))

    def rotate(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """Rotate every pair of features of x: B H T K by its angle; of a wider head the rest stays as it is."""
        if x.size(-1) > self.head_dim:
            turned, still = x[..., : self.head_dim], x[..., self.head_dim :]
            return torch.cat((self.rotate(turned, cos, sin), still), dim=-1)
        cos, sin = cos.to(x.dtype), sin.to(x.dtype)
        if self.pairs == "neighbours":
            first, second = x[..., 0::2], x[..., 1::2]
            return torch.stack((first * cos - second * sin, first * sin + second * cos), dim=-1).flatten(-2)
        first, second = x.chunk(2, dim=-1)
        return torch.cat((first * cos - second * sin, first * sin + second * cos), dim=-1)


@dataclass(frozen=True, kw_only=True)
class SlowWavesStretched:
    """Llama 3.1's way past the trained length: waves that turn seldom within it are stretched, those that turn often
    stay as they are, and between them it is a bit of both (Dubey et al., 2024)."""

    factor: float
    low: float
    high: float
    trained: int

    def __call__(self, frequencies: Tensor) -> Tensor:
        """Radians per position: K/2 of them, and as many are returned."""
        turns = self.trained * frequencies / (2 * math.pi)
        kept = ((turns - self.low) / (self.high - self.low)).clamp(0, 1)
        return frequencies * (kept + (1 - kept) / self.factor)


class Alibi(NoPosition):
    """Subtract a penalty that grows with the distance, with one slope per head (Press et al., 2022)."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.heads = heads

    def slopes(self, device: torch.device | None = None) -> Tensor:
        """One slope per head: 2^-1 … 2^-8 for eight. H."""
        # A power of two has the paper's geometric sequence; other counts are filled from that of the next power of two.
        power = 2 ** math.floor(math.log2(self.heads))
        exponents = [8 * (i + 1) / power for i in range(power)]
        exponents += [8 * (2 * i + 1) / (2 * power) for i in range(self.heads - power)]
        return torch.pow(2.0, -torch.tensor(exponents, device=device, dtype=torch.float32))

    def bias(self, q: Tensor, k: Tensor, context: AttentionContext) -> Tensor:
        def penalty() -> Tensor:
            return -self.slopes(q.device)[:, None, None] * context.distances()[:, None].abs()  # B H T S

        return context.once((self, "penalty"), penalty).to(q.dtype)


class Buckets(NoPosition):
    """A trained bias for each head and range of distances: near ones exact, far ones in widening buckets
    (Raffel et al., 2020). One object shared by all layers of a stack gives T5's shared bias."""

    def __init__(self, heads: int, *, buckets: int = 32, max_distance: int = 128, bidirectional: bool = True) -> None:
        super().__init__()
        self.buckets, self.max_distance, self.bidirectional = buckets, max_distance, bidirectional
        self.table = nn.Embedding(buckets, heads)

    def bucket(self, distances: Tensor) -> Tensor:
        """The bucket number of each distance (query minus key position)."""
        count = self.buckets
        start = torch.zeros_like(distances)
        if self.bidirectional:
            count //= 2
            start = torch.where(distances < 0, count, 0)  # the second half is for keys that come after the query
            distances = distances.abs()
        else:
            distances = distances.clamp(min=0)
        exact = count // 2
        # The float operations are in T5's order: at a bucket's edge the last bit decides.
        scale = torch.log(distances.clamp(min=1).float() / exact) / math.log(self.max_distance / exact)
        wide = (exact + (scale * (count - exact)).long()).clamp(max=count - 1)
        return start + torch.where(distances < exact, distances, wide)

    def bias(self, q: Tensor, k: Tensor, context: AttentionContext) -> Tensor:
        def look_up() -> Tensor:
            table: Tensor = self.table(self.bucket(context.distances()))
            return table.permute(0, 3, 1, 2)  # B T S H -> B H T S

        return context.once((self, "bias"), look_up)


class Grid(NoPosition):
    """A trained bias for each head and each offset in rows and columns between two patches, and three more: from the
    class token, to it, and from it to itself (BEiT; Bao et al., 2022). Place 0 is the class token's."""

    def __init__(self, heads: int, *, side: int) -> None:
        super().__init__()
        self.side, self.offsets = side, (2 * side - 1) ** 2
        self.table = nn.Embedding(self.offsets + 3, heads)

    def index(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Which row of the table belongs to each pair. B T, B S -> B T S."""
        q, k = queries[:, :, None], keys[:, None, :]
        steps = [(q - 1) // self.side - (k - 1) // self.side, (q - 1) % self.side - (k - 1) % self.side]
        rows, columns = (step + self.side - 1 for step in steps)
        found = rows * (2 * self.side - 1) + columns
        found = torch.where(q == 0, self.offsets, found)
        found = torch.where(k == 0, self.offsets + 1, found)
        return torch.where((q == 0) & (k == 0), self.offsets + 2, found)

    def bias(self, q: Tensor, k: Tensor, context: AttentionContext) -> Tensor:
        index = context.once((Grid, self.side), lambda: self.index(context.queries, context.keys))

        def look_up() -> Tensor:
            table: Tensor = self.table(index)
            return table.permute(0, 3, 1, 2)  # B T S H -> B H T S

        return context.once((self, "bias"), look_up)


class Shaw(NoPosition):
    """A trained key for each clipped distance, matched by the query (Shaw et al., 2018, eq. 4).

    The paper's second table, for values, is left out: it gained nothing in the paper's own ablation (table 3) and
    would rule out every fused kernel, since it needs the weights.
    """

    def __init__(self, head_dim: int, *, max_distance: int = 16) -> None:
        super().__init__()
        self.max_distance = max_distance
        self.table = nn.Embedding(2 * max_distance + 1, head_dim)

    def bias(self, q: Tensor, k: Tensor, context: AttentionContext) -> Tensor:
        reach = self.max_distance

        def clipped() -> Tensor:
            return context.distances().clamp(-reach, reach)[:, None] + reach  # B 1 T S

        index = context.once((self, "index"), clipped)
        return pick(q @ self.table.weight.mT / math.sqrt(q.size(-1)), index)


class Relative(NoPosition):
    """Transformer-XL's relative scores: the query matches a projected wave of the distance, and two trained vectors
    replace the query where its own position would have mattered (Dai et al., 2019, section 3.3)."""

    def __init__(self, dim: int, *, heads: int, head_dim: int) -> None:
        super().__init__()
        self.heads, self.head_dim = heads, head_dim
        self.waves = SplitSinusoidal(dim)
        self.r_proj = nn.Linear(dim, heads * head_dim, bias=False)
        self.content_bias = nn.Parameter(torch.zeros(heads, head_dim))  # u
        self.distance_bias = nn.Parameter(torch.zeros(heads, head_dim))  # v

    def bias(self, q: Tensor, k: Tensor, context: AttentionContext) -> Tensor:
        low, high = context.once((self, "range"), lambda: _range(context))
        steps = torch.arange(low, high + 1, device=q.device)
        waves = context.once((self, "waves"), lambda: self.waves.embed(steps))  # N D, one row per distance
        scale = 1 / math.sqrt(self.head_dim)  # of what is small: the scores are the largest tensors there are
        r = scale * self.r_proj(waves.to(q.dtype)).view(-1, self.heads, self.head_dim).permute(1, 2, 0)  # H K N
        by_distance = (q + self.distance_bias[:, None]) @ r  # B H T N
        index = context.once((self, "index"), lambda: context.distances()[:, None] - low)
        keys = k.repeat_interleave(self.heads // k.size(1), dim=1)
        by_content = scale * self.content_bias[:, None] @ keys.mT  # B H 1 S
        return pick(by_distance, index) + by_content


def pick(by_distance: Tensor, index: Tensor) -> Tensor:
    """From a score for every distance (B H T N) take those that occur (B 1 T S): B H T S."""
    batch, heads, queries, _ = by_distance.shape
    return by_distance.gather(-1, index.expand(batch, heads, queries, index.size(-1)))


def _range(context: AttentionContext) -> tuple[int, int]:
    """The smallest and largest distance that occurs. Without data (meta device) the widest that the lengths allow."""
    if context.queries.is_meta:
        return 1 - context.keys.size(1), context.keys.size(1) - 1
    distances = context.distances()
    return int(distances.min()), int(distances.max())
