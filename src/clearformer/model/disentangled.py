"""Disentangled attention: what a token is and where it stands have vectors of their own, and a score is the sum of what
they say of one another (He et al., 2021; DeBERTa).

B batch, T query length, S key length, D model width, H heads, K head width, N vectors of distances.
"""

import math

import torch
from torch import Tensor, nn

from clearformer.model.attention_context import AttentionContext
from clearformer.model.config import Sides
from clearformer.model.dropout import Dropout
from clearformer.model.positions import NoPosition, Project, pick


class DistanceVectors(nn.Module):
    """A trained vector for each distance or range of distances, to either side; all layers of a stack share them."""

    def __init__(self, dim: int, *, buckets: int, max_distance: int, norm: nn.Module | None = None) -> None:
        """buckets: how many ranges there are to each side; 0: every distance up to max_distance has its own vector."""
        super().__init__()
        self.buckets, self.max_distance = buckets, max_distance
        self.span = buckets or max_distance
        self.table = nn.Embedding(2 * self.span, dim)
        self.norm = norm if norm is not None else nn.Identity()

    def rows(self) -> Tensor:
        """All vectors: N D."""
        rows: Tensor = self.norm(self.table.weight)
        return rows

    def index(self, distances: Tensor) -> Tensor:
        """Which vector belongs to each distance (query minus key position)."""
        return (self.bucket(distances) + self.span).clamp(0, 2 * self.span - 1)

    def bucket(self, distances: Tensor) -> Tensor:
        """Near distances are exact; beyond half of the buckets, ranges widen up to max_distance."""
        if not self.buckets:
            return distances
        half = self.buckets // 2
        # The float operations are in DeBERTa's order: at a bucket's edge the last bit decides.
        whole = torch.tensor((self.max_distance - 1) / half, device=distances.device).log()
        wide = torch.ceil((distances.abs().clamp(min=half) / half).log() / whole * (half - 1)) + half
        return torch.where(distances.abs() <= half, distances, (wide * distances.sign()).long())


class Disentangled(NoPosition):
    """What is added to a score of two tokens: how the query's token matches the vector of their distance, how the key's
    token does, or both (He et al., 2021, eq. 4).

    The vectors of distances become queries and keys through the layer's own projections, or through two more.
    """

    def __init__(
        self,
        vectors: DistanceVectors,
        *,
        head_dim: int,
        sides: Sides = "both",
        projections: tuple[nn.Linear, nn.Linear] | None = None,
        dropout: float = 0.0,
    ) -> None:
        """projections: of the vectors to queries and to keys of all heads; None = the layer's, as for tokens."""
        super().__init__()
        self.vectors, self.head_dim, self.sides = vectors, head_dim, sides
        self.parts = 3 if sides == "both" else 2
        q_proj, k_proj = projections if projections is not None else (None, None)
        self.q_proj = q_proj if sides != "queries" else None
        self.k_proj = k_proj if sides != "keys" else None
        self.dropout = Dropout(dropout)

    def match(
        self, q: Tensor, k: Tensor, context: AttentionContext, as_queries: Project, as_keys: Project
    ) -> Tensor | None:
        rows = self.dropout(context.once((self.vectors, "rows"), self.vectors.rows))
        index = context.once((self.vectors, "index"), lambda: self.vectors.index(context.distances())[:, None])
        scale, heads = 1 / math.sqrt(self.head_dim * self.parts), q.size(1)
        found = None
        if self.sides != "keys":  # the query's token asks for a distance
            keys = as_keys(rows[None]) if self.k_proj is None else self._split(self.k_proj(rows), heads)
            found = pick(q @ (scale * _shared(keys, heads)).mT, index)
        if self.sides != "queries":  # the distance asks for the key's token
            queries = as_queries(rows[None]) if self.q_proj is None else self._split(self.q_proj(rows), heads)
            asked = pick(_shared(k, heads) @ (scale * queries).mT, index.mT).mT
            found = asked if found is None else found + asked
        return found

    def _split(self, x: Tensor, heads: int) -> Tensor:
        """N (H K) -> 1 H N K."""
        return x.view(1, len(x), heads, self.head_dim).transpose(1, 2)


def _shared(x: Tensor, heads: int) -> Tensor:
    """Each key head serves its group of query heads. B G S K -> B H S K."""
    return x if x.size(1) == heads else x.repeat_interleave(heads // x.size(1), dim=1)
