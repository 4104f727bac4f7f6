"""Where a Vision Transformer looked: how much of each patch reached what the class is read from, by attention rollout.

It is about where the model looked, not what for: see `attention_rollout`. T tokens, P patches.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from clearformer.inference.attention_rollout import roll_out
from clearformer.model.trace import trace

POOL = "head.pool.weights"


@dataclass(frozen=True, kw_only=True)
class PatchShares:
    """The share of each patch, row by row, and of the class token, where there is one. All together they are one."""

    side: int  # patches along each side of the picture
    shares: tuple[float, ...]
    token: float = 0.0

    def rows(self) -> list[list[float]]:
        """As they lie in the picture."""
        return [list(self.shares[start : start + self.side]) for start in range(0, len(self.shares), self.side)]


@torch.inference_mode()
def roll_out_patches(model: nn.Module, numbers: Tensor, *, pool: str) -> PatchShares:
    """One picture, 1 C Y X, through the model. pool: which states the class is read from, as head.pool says,
    or "taught", where the class and the teacher token have one classifier each."""
    with trace(model, only=["*.self_attn.weights", "*.front.embeddings", POOL]) as seen:
        model(numbers)
    maps = [seen[name][0] for name in seen if name.endswith(".self_attn.weights")]
    if not maps:
        raise ValueError("this model has no attention over patches; only a Transformer can say where it looked")
    rolled = roll_out(maps)  # T T
    patches = next(seen[name].size(1) for name in seen if name.endswith(".front.embeddings"))
    found = (_readout(pool, seen.get(POOL), rolled, patches) @ rolled).tolist()
    extra = len(found) - patches
    return PatchShares(side=math.isqrt(patches), shares=tuple(found[extra:]), token=sum(found[:extra]))


def _readout(pool: str, learned: Tensor | None, rolled: Tensor, patches: int) -> Tensor:
    """How much of each token's last state the class is read from: T. Where two parts are read, a half each."""
    count = rolled.size(0)
    if pool == "taught":
        return torch.eye(count, dtype=rolled.dtype)[:2].mean(dim=0)
    if pool.endswith("patches"):
        mean = torch.cat((rolled.new_zeros(count - patches), rolled.new_full((patches,), 1 / patches)))
        return mean if pool == "patches" else (mean + torch.eye(count, dtype=rolled.dtype)[0]) / 2
    if learned is not None:
        return learned.reshape(-1)[-count:].to(rolled)
    if pool == "mean":
        return rolled.new_full((count,), 1 / count)
    return torch.eye(count, dtype=rolled.dtype)[-1 if pool == "last" else 0]
