"""Three attentions of recent papers, written on top of the package's own: for experiments, not for use."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.model.attention import Attention, gather, merge, share, split
from clearformer.model.attention_context import AttentionContext
from clearformer.model.cache import LayerCache


class TokenValues(nn.Module):
    """Values with a vector of their token added, from a table that all layers share (Zhou et al., 2024; Jordan's
    speed runs). The front end is watched for the tokens."""

    def __init__(self, projection: nn.Module, table: nn.Embedding, front: nn.Module) -> None:
        super().__init__()
        self.projection, self.table, self.amount = projection, table, nn.Parameter(torch.tensor(0.5))
        self._tokens: list[Tensor] = []
        front.register_forward_pre_hook(self._watch)

    def _watch(self, front: nn.Module, given: tuple[Any, ...]) -> None:
        self._tokens = [given[0]]

    def forward(self, x: Tensor) -> Tensor:
        [tokens] = self._tokens
        values: Tensor = self.projection(x) + self.amount * self.table(tokens[:, -x.size(1) :])
        return values


class GatedOutput(Attention):
    """What each head gathers is multiplied by a sigmoid of the input (Qiu et al., 2025)."""

    def __init__(self, part: Attention) -> None:
        width = part.q_proj.in_features
        super().__init__(
            width, heads=part.heads, scale=part.scale, dropout=part.dropout, position=part.position, kernel=part.kernel
        )
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, name, getattr(part, name))
        self.gate_proj = nn.Linear(width, part.heads.count * part.heads.value_dim)
        nn.init.normal_(self.gate_proj.weight, std=0.02)
        nn.init.zeros_(self.gate_proj.bias)

    def forward(
        self, x: Tensor, context: AttentionContext, *, source: Tensor | None = None, cache: LayerCache | None = None
    ) -> Tensor:
        keys_from = x if source is None else source

        def project() -> tuple[Tensor, Tensor]:
            k = self.position.rotate_keys(split(self.k_proj(keys_from), self.heads.kv_count), context)
            return k, split(self.v_proj(keys_from), self.heads.kv_count)

        q = self.position.rotate_queries(split(self.q_proj(x), self.heads.count), context)
        k, v = project() if cache is None else cache.extend(project)
        gate = split(self.gate_proj(x), self.heads.count).sigmoid()
        output: Tensor = self.out_proj(merge(self.gather(q, k, v, context) * gate))
        return output


class DifferentialScores(nn.Module):
    """The difference of two softmaxes, each over half of the features, and a norm of what it gathers (Ye et al.,
    2024). The first layers subtract less."""

    def __init__(self, value_dim: int, *, depth: int) -> None:
        super().__init__()
        self.start = 0.8 - 0.6 * math.exp(-0.3 * (depth - 1))
        self.amount, self.norm = nn.Parameter(torch.tensor(self.start)), nn.RMSNorm(value_dim)

    def forward(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        *,
        mask: Tensor | None = None,
        bias: Tensor | None = None,
        scale: float | None = None,
        dropout: float = 0.0,
    ) -> Tensor:
        factor = 1 / math.sqrt(q.size(-1) // 2) if scale is None else scale
        found = []
        for half_q, half_k in zip(q.chunk(2, dim=-1), share(k, q.size(1)).chunk(2, dim=-1), strict=True):
            scores = half_q @ half_k.mT * factor
            found.append(gather(scores if bias is None else scores + bias, v, mask=mask, dropout=dropout))
        gathered: Tensor = self.norm(found[0] - self.amount * found[1]) * (1 - self.start)
        return gathered
