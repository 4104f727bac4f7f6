"""One vector of all states by attention: a trained query gathers them, and a feed-forward part follows.

B batch, T length, D model width. Where no token stands for the whole input, this is how it is summed up (Lee et al.,
2019; Zhai et al., 2022).
"""

import torch
from torch import Tensor, nn

from clearformer.model import masks
from clearformer.model.attention import Attention
from clearformer.model.attention_context import AttentionContext
from clearformer.model.layers import Residual
from clearformer.model.trace import note


class AttentionPool(nn.Module):
    """What a trained query gathers, then feed-forward in its residual."""

    def __init__(self, dim: int, *, attn: Attention, ffn: nn.Module, residual: Residual) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.zeros(1, 1, dim))
        self.attn, self.ffn, self.ffn_residual = attn, ffn, residual

    def forward(self, states: Tensor, keep: Tensor | None = None) -> Tensor:
        """states: B T D, keep: B T, True = real -> B D."""
        asked = self.query.to(states.dtype).expand(states.size(0), -1, -1)
        places = torch.arange(states.size(1), device=states.device)[None]
        context = AttentionContext(places[:, :1], places, mask=None if keep is None else masks.padding(keep))
        gathered = self.attn(asked, context, source=states)  # B 1 D
        pooled: Tensor = self.ffn_residual(gathered, self.ffn)[:, 0]
        note(self, "output", pooled)
        return pooled
