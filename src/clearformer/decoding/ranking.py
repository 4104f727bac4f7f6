"""The k best values, with a defined order among ties.

`torch.topk` does not define which of several equal values it takes, and on some devices the answer changes with
the number of rows. Equal values are common (bfloat16 logits near 10 lie 1/16 apart), so the order is fixed here.
"""

import torch
from torch import Tensor

BLOCK = 64  # tokens per block, in a first round that only finds where the large values are
FEW = 8  # below this many rows two rounds take longer than one


def top(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest of each row (R V), largest first, and their indices; equal values in order of index.

    Entries of minus infinity are impossible choices: they come last, in no particular order.
    """
    return in_order(*choose(values, k))


def choose(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The same k of each row, with ties not yet in order."""
    width = values.size(-1)
    k = min(k, width)
    best, index = _largest(values, min(k + 1, width))
    if width > k:
        # One value more than asked for shows whether the cut runs through a group of ties.
        edge = best[:, k]
        torn = (best[:, k - 1] == edge) & (edge > -torch.inf)
        if bool(torn.any()):
            best[torn], index[torn] = _lowest_of_equals(values[torn], best[torn], index[torn])
        best, index = best[:, :k], index[:, :k]
    return best, index


def in_order(values: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    """Sort each row by value, largest first, and ties by index, lowest first."""
    index, by_index = index.sort(dim=-1)
    values, by_value = values.gather(-1, by_index).sort(dim=-1, descending=True, stable=True)
    return values, index.gather(-1, by_value)


def _largest(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """`topk`, several times as fast where rows are wide: the k largest lie in the k blocks with the largest maxima.

    For if one lay elsewhere, each of those k blocks would hold a value at least as large. The values are therefore
    those of `topk`, and so are the indices of all that exceed the smallest of them.
    """
    rows, width = values.shape
    count = width // BLOCK
    if rows <= FEW or count < 4 * k:
        return values.topk(k)
    whole = values[:, : count * BLOCK].view(rows, count, BLOCK)
    blocks = whole.amax(-1).topk(k).indices  # R k
    near = whole[torch.arange(rows, device=values.device)[:, None], blocks].flatten(1)
    near = torch.cat((near, values[:, count * BLOCK :]), dim=1)  # the incomplete block at the end is always included
    blocks = torch.cat((blocks, blocks.new_full((rows, 1), count)), dim=1)
    best, place = near.topk(k)
    return best, blocks.gather(1, place // BLOCK) * BLOCK + place % BLOCK


def _lowest_of_equals(values: Tensor, best: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    """Replace the entries equal to the last of `best` by the lowest-indexed ones of that value."""
    edge, width = best[:, -1:], values.size(-1)
    nearness = torch.arange(width, 0, -1, device=values.device)  # larger = lower index
    nearness, lowest = torch.where(values == edge, nearness, 0).topk(best.size(-1))
    above = torch.where(best > edge, best, -torch.inf)
    equals = torch.where(nearness > 0, edge, -torch.inf)
    both, both_index = in_order(torch.cat([above, equals], -1), torch.cat([index, lowest], -1))
    return both[:, : best.size(-1)], both_index[:, : best.size(-1)]
