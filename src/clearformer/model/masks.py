"""Who may look at whom: boolean masks with one meaning, True = may look.

B batch, T query slots, S key slots. Every mask here broadcasts to B H T S. A mask is never a float: what is added to
scores is a bias and comes from a position scheme.
"""

import torch
from torch import Tensor


def padding(keep: Tensor) -> Tensor:
    """Hide the keys that are padding. keep: B S, True = a real token; returns B 1 1 S."""
    check(keep, "keep")
    if keep.dim() != 2:
        raise ValueError(f"keep must be batch × length, but has shape {tuple(keep.shape)}")
    return keep[:, None, None, :]


def causal(queries: int, keys: int, device: torch.device | None = None) -> Tensor:
    """Hide the future: query slot i may look at key slots up to its own. Returns T S.

    Slots are counted from the end, so that with a cache the last query stands at the last key.
    """
    query_slots = torch.arange(keys - queries, keys, device=device)[:, None]
    return torch.arange(keys, device=device)[None, :] <= query_slots


def causal_rows(rows: Tensor, length: int) -> Tensor:
    """Hide the future in some rows alone. rows: B, True = this row is read from left to right; returns B 1 T T."""
    check(rows, "rows")
    return causal(length, length, device=rows.device) | ~rows[:, None, None, None]


def window(queries: Tensor, keys: Tensor, *, left: int, right: int = 0) -> Tensor:
    """Hide everything but `left` positions before the query, its own, and `right` positions after it.

    queries: B T, keys: B S, position ids; returns B 1 T S. Positions count tokens, not slots, so padding between them
    does not count.
    """
    offset = keys[:, None, :] - queries[:, :, None]  # B T S: where the key stands, seen from the query
    return ((offset >= -left) & (offset <= right))[:, None]


def packed(query_segments: Tensor, key_segments: Tensor) -> Tensor:
    """Keep sequences that share a row apart. query_segments: B T, key_segments: B S, integers; returns B 1 T S."""
    return (query_segments[:, :, None] == key_segments[:, None, :])[:, None]


def both(*masks: Tensor | None) -> Tensor | None:
    """Allow only what every given mask allows; None allows everything."""
    combined: Tensor | None = None
    for mask in masks:
        if mask is not None:
            combined = mask if combined is None else combined & mask
    return combined


def check(mask: Tensor, name: str = "mask") -> None:
    """Refuse a mask that is not boolean: 0/1 and 0/-inf masks mean opposite things in different libraries."""
    if mask.dtype != torch.bool:
        raise TypeError(f"{name} must be boolean with True = may look, but has type {mask.dtype}; compare it first")
