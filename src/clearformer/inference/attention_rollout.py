"""Attention rollout: how much of each input token reaches each place of the last layer, by the attention maps alone
(Abnar and Zuidema, 2020, section 3).

T tokens, H heads. It knows the maps and the residual paths, not values, feed-forward layers or classes: it says where
the model looked, not what for.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from clearformer.model.trace import trace


@torch.inference_mode()
def attention_rollout(model: nn.Module, tokens: Tensor, keep: Tensor, **extra: Tensor) -> Tensor:
    """Run one row and roll its maps out. tokens, keep: 1 T. Returns T T; each row of a real token sums to one."""
    with trace(model, only=["*.self_attn.weights"]) as seen:
        model(tokens, keep=keep, **extra)
    maps = [seen[name][0] for name in seen]  # layer by layer, in the order of the pass
    if not maps:
        raise ValueError("this model has no attention to roll out; explain it by the gradient method")
    return roll_out(maps)


def roll_out(maps: Sequence[Tensor]) -> Tensor:
    """Multiply the maps of all layers, each averaged over its heads and with half of the weight on the residual path.

    maps: H T T each, first layer first. Returns T T.
    """
    mixed = torch.eye(maps[0].size(-1), dtype=torch.float64)
    for weights in maps:
        own = torch.eye(weights.size(-1), dtype=torch.float64)
        layer = 0.5 * weights.double().mean(dim=0) + 0.5 * own
        mixed = (layer / layer.sum(dim=-1, keepdim=True)) @ mixed
    return mixed
