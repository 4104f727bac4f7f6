"""Attention: every query gathers the values whose keys it matches.

B batch, T query length, S key length, D model width, H heads, G key/value heads, K head width. `attend` is written like
the formula; `attend_fused` gives the same numbers through PyTorch's kernel; `Additive` is Bahdanau's scorer. All three
have one signature, and `Attention` is the layer around any of them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.model import masks
from clearformer.model.attention_context import AttentionContext
from clearformer.model.cache import LayerCache
from clearformer.model.dropout import drop
from clearformer.model.fast import block_attention, short_attention
from clearformer.model.positions import NoPosition
from clearformer.model.trace import note, notes_of

Notes = Callable[[str, Tensor], None]


class Kernel(Protocol):
    """From projected heads to gathered values: what `attend`, `attend_fused` and `Additive` have in common."""

    def __call__(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        *,
        mask: Tensor | None = None,
        bias: Tensor | None = None,
        scale: float | None = None,
        dropout: float = 0.0,
    ) -> Tensor: ...


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    scale: float | None = None,
    dropout: float = 0.0,
    notes: Notes | None = None,
) -> Tensor:
    """softmax(q·kᵀ/√K)·v, as the paper writes it (Vaswani et al., 2017, eq. 1).

    q: B H T K; k: B G S K; v: B G S Kv; mask: boolean, True = may look, and bias: floats, broadcast to B H T S. A query
    that may look nowhere gathers zeros.
    """
    scores = q @ share(k, q.size(1)).mT  # B H T S
    scaled = scores * (1 / math.sqrt(q.size(-1)) if scale is None else scale)
    biased = scaled if bias is None else scaled + bias
    if notes:
        notes("scores", scores)
        notes("scaled", scaled)
        if bias is not None:
            notes("bias", bias.expand_as(scores))
    return gather(biased, v, mask=mask, dropout=dropout, notes=notes)


def gather(scores: Tensor, v: Tensor, *, mask: Tensor | None, dropout: float, notes: Notes | None = None) -> Tensor:
    """Turn scores into weights that sum to one, and average the values with them. scores: B H T S; returns B H T Kv."""
    if mask is None:
        masked, weights = scores, scores.softmax(dim=-1)
    else:
        masks.check(mask)
        masked = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)  # finite, so that an empty row gives numbers
        weights = masked.softmax(dim=-1).masked_fill(~mask, 0.0)  # which then become zeros
    if notes:
        notes("masked", masked)
        notes("weights", weights)
    return drop(weights, dropout) @ share(v, scores.size(1))


def attend_fused(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    scale: float | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """The same as `attend`, by the fastest way: mostly PyTorch's kernel, which never stores the weights."""
    if mask is not None:
        masks.check(mask)  # the kernel would take floats for a bias
    if q.device.type == "cpu" and (q.size(2) == 1 or dropout):
        # For a single query the kernel is no faster, and its scratch memory has another layout on each thread: a row's
        # last bits would depend on its place in the batch. And no fused kernel on the CPU drops weights.
        return attend(q, k, v, mask=mask, bias=bias, scale=scale, dropout=dropout)
    if bias is None and short_attention.suits(q, k):
        return short_attention.attend_short(q, k, v, mask=mask, scale=scale)
    if bias is None and block_attention.suits(q, k):
        return block_attention.attend_blocks(q, k, v, mask=mask, scale=scale)
    if bias is not None:
        allowed = torch.ones((), dtype=torch.bool, device=q.device) if mask is None else mask
        mask = bias.to(q.dtype).masked_fill(~allowed, -math.inf)
    grouped = k.size(1) != q.size(1)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout, scale=scale, enable_gqa=grouped)


class Capped(nn.Module):
    """`attend` with scores that bend towards a limit, cap·tanh(score / cap), before anything is added (Gemma 2)."""

    def __init__(self, cap: float) -> None:
        super().__init__()
        self.cap = cap

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
        notes: Notes | None = None,
    ) -> Tensor:
        scores = q @ share(k, q.size(1)).mT * (1 / math.sqrt(q.size(-1)) if scale is None else scale)  # B H T S
        bent = self.cap * torch.tanh(scores / self.cap)
        if notes:
            notes("scaled", scores)
            notes("scores", bent)
        return gather(bent if bias is None else bent + bias, v, mask=mask, dropout=dropout, notes=notes)


class Additive(nn.Module):
    """Bahdanau's scorer: a small network compares query and key, wᵀ·tanh(q + k) after their projections
    (Bahdanau et al., 2015, A.1.2).

    It costs a tanh for each pair and feature where the dot product is one matrix product; `scale` is not used.
    """

    def __init__(self, head_dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(head_dim).uniform_(-1, 1) / math.sqrt(head_dim))

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
        notes: Notes | None = None,
    ) -> Tensor:
        pairs = q[:, :, :, None] + share(k, q.size(1))[:, :, None]  # B H T S K
        scores = pairs.tanh() @ self.weight  # B H T S
        if notes:
            notes("scores", scores)
        return gather(scores if bias is None else scores + bias, v, mask=mask, dropout=dropout, notes=notes)


def share(x: Tensor, heads: int) -> Tensor:
    """Let each key/value head serve its group of query heads. x: B G S K; returns B H S K."""
    groups = x.size(1)
    return x if groups == heads else x.repeat_interleave(heads // groups, dim=1)


@dataclass(frozen=True, kw_only=True)
class Heads:
    """How the width is divided: H query heads, G key/value heads, K features in queries and keys, Kv in values."""

    count: int
    kv_count: int
    key_dim: int
    value_dim: int

    @classmethod
    def of(cls, dim: int, count: int, *, kv_count: int | None = None, head_dim: int | None = None) -> "Heads":
        """The usual division: dim/heads features per head, as many key/value heads as query heads."""
        if count < 1:
            raise ValueError(f"attention needs at least one head, and {count} heads were asked for")
        if head_dim is None and dim % count:
            raise ValueError(f"{count} heads do not divide a width of {dim}; choose a divisor or set head_dim")
        if kv_count is not None and (kv_count < 1 or count % kv_count):
            raise ValueError(f"{kv_count} key/value heads cannot be shared evenly by {count} heads; choose a divisor")
        width = head_dim or dim // count
        return cls(count=count, kv_count=kv_count or count, key_dim=width, value_dim=width)


class Attention(nn.Module):
    """Project, attend in each head, concatenate, project back (Vaswani et al., 2017, section 3.2.2).

    The queries come from `x`; keys and values from `source` (cross-attention) or from `x` too (self-attention). Fewer
    key/value heads than heads make it grouped-query, one makes it multi-query attention.
    """

    def __init__(
        self,
        dim: int,
        *,
        heads: Heads | int,
        source_dim: int | None = None,
        bias: bool = True,
        key_bias: bool | None = None,
        out_bias: bool | None = None,
        head_norm: Callable[[int], nn.Module] | None = None,
        scale: float | None = None,
        dropout: float = 0.0,
        position: NoPosition | None = None,
        kernel: Kernel = attend_fused,
    ) -> None:
        """head_norm: makes a norm of so many features, for each head's queries and for its keys."""
        super().__init__()
        self.heads = heads if isinstance(heads, Heads) else Heads.of(dim, heads)
        h, width = self.heads, source_dim or dim
        self.q_proj = nn.Linear(dim, h.count * h.key_dim, bias=bias)
        self.k_proj = nn.Linear(width, h.kv_count * h.key_dim, bias=bias if key_bias is None else key_bias)
        self.v_proj = nn.Linear(width, h.kv_count * h.value_dim, bias=bias)
        self.out_proj = nn.Linear(h.count * h.value_dim, dim, bias=bias if out_bias is None else out_bias)
        self.q_norm = nn.Identity() if head_norm is None else head_norm(h.key_dim)
        self.k_norm = nn.Identity() if head_norm is None else head_norm(h.key_dim)
        self.position = position if position is not None else NoPosition()
        if scale is None and self.position.parts > 1:
            scale = 1 / math.sqrt(h.key_dim * self.position.parts)
        self.kernel, self.scale, self.dropout = kernel, scale, dropout

    def forward(
        self, x: Tensor, context: AttentionContext, *, source: Tensor | None = None, cache: LayerCache | None = None
    ) -> Tensor:
        """x: B T D; source: B S D; context: where both stand and who may look at whom. Returns B T D."""
        keys_from = x if source is None else source

        def project() -> tuple[Tensor, Tensor]:
            k = self.position.rotate_keys(self.as_keys(keys_from), context)
            return k, split(self.v_proj(keys_from), self.heads.kv_count)

        q = self.position.rotate_queries(self.as_queries(x), context)
        k, v = project() if cache is None else cache.extend(project)
        gathered = self.gather(q, k, v, context)  # B H T Kv
        output: Tensor = self.out_proj(merge(gathered))
        note(self, "output", output)
        return output

    def as_queries(self, x: Tensor) -> Tensor:
        """B T D -> B H T K."""
        queries: Tensor = self.q_norm(split(self.q_proj(x), self.heads.count))
        return queries

    def as_keys(self, x: Tensor) -> Tensor:
        """B S D -> B G S K."""
        keys: Tensor = self.k_norm(split(self.k_proj(x), self.heads.kv_count))
        return keys

    def gather(self, q: Tensor, k: Tensor, v: Tensor, context: AttentionContext) -> Tensor:
        """Attend with the kernel of this layer, or, during a trace, with the readable one, which has weights."""
        bias = self.position.match(q, k, context, self.as_queries, self.as_keys)
        dropout = self.dropout if self.training else 0.0
        notes = notes_of(self)
        if notes is None:
            return self.kernel(q, k, v, mask=context.mask, bias=bias, scale=self.scale, dropout=dropout)
        for label, value in (("q", q), ("k", k), ("v", v)):
            notes(label, value)
        readable = self.kernel if isinstance(self.kernel, Additive | Capped) else attend
        gathered = readable(q, k, v, mask=context.mask, bias=bias, scale=self.scale, dropout=dropout, notes=notes)
        notes("heads", gathered)
        return gathered


def split(x: Tensor, heads: int) -> Tensor:
    """Cut the width into heads: B T (H K) -> B H T K."""
    batch, length, _ = x.shape
    return x.view(batch, length, heads, -1).transpose(1, 2)


def merge(x: Tensor) -> Tensor:
    """Concatenate the heads: B H T K -> B T (H K)."""
    return x.transpose(1, 2).flatten(-2)
