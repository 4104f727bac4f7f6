"""The same model with its rotary pairs in another order: neighbours, as GGUF files have them, or halves, as
transformers expects.

A rotation turns pairs of features, and it is the same to q·k which two features are called a pair, as long as queries
and keys agree. So the rows of both projections change places within each head.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor

from clearformer.model.config import ModelConfig

PROJECTIONS = re.compile(r"\.self_attn\.[qk]_proj\.(weight|bias)$")


def in_halves(config: ModelConfig, weights: Mapping[str, Tensor]) -> tuple[ModelConfig, dict[str, Tensor]]:
    """Configuration and weights whose features (0, K/2), (1, K/2+1), … are pairs. Those that are so already stay."""
    if config.position.kind != "rotary" or config.position.pairs == "halves":
        return config, dict(weights)
    width = config.attention.head_dim or config.dim // config.attention.heads
    order = torch.cat((torch.arange(0, width, 2), torch.arange(1, width, 2)))
    moved = {
        name: _within_heads(weight, order) if PROJECTIONS.search(name) else weight for name, weight in weights.items()
    }
    halves = replace(config.position, pairs="halves")
    return replace(config, position=halves, decoder_position=None), moved


def _within_heads(weight: Tensor, order: Tensor) -> Tensor:
    heads = weight.reshape(-1, len(order), *weight.shape[1:])
    return heads[:, order].flatten(0, 1)
