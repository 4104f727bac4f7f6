"""A feed-forward part that is many: a router sends each token through the few experts that suit it (Shazeer et al.,
2017; Mixtral, Jiang et al., 2024).

B batch, T length, D model width, E experts.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from clearformer.model.trace import note


class Experts(nn.Module):
    """The sum of what the chosen experts make of a token, each by its share. A model has the parameters of all experts
    and takes the time of the chosen ones."""

    def __init__(self, dim: int, experts: Sequence[nn.Module], *, chosen: int, rescaled: bool = True) -> None:
        """chosen: how many each token goes through. rescaled: their shares sum to one, whatever the others had."""
        super().__init__()
        self.router = nn.Linear(dim, len(experts), bias=False)
        self.experts = nn.ModuleList(experts)
        self.chosen, self.rescaled = chosen, rescaled

    def forward(self, x: Tensor) -> Tensor:
        """x: B T D; returns B T D."""
        shares = self.shares(x)
        note(self, "shares", shares)
        output = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            share = shares[..., number]  # B T
            if x.is_meta:  # nobody knows which are chosen; the first stand for them, so that the work is counted
                output = output + expert(x) * share[..., None] if number < self.chosen else output
                continue
            here = share > 0
            if bool(here.any()):
                output = output.index_put((here,), expert(x[here]) * share[here, None].to(x.dtype), accumulate=True)
        note(self, "output", output)
        return output

    def shares(self, x: Tensor) -> Tensor:
        """How much each expert counts for each token; 0 for those that are not chosen. B T E."""
        likely = self.router(x).float().softmax(dim=-1)
        best, which = likely.topk(self.chosen, dim=-1)
        best = best / best.sum(dim=-1, keepdim=True) if self.rescaled else best
        return torch.zeros_like(likely).scatter(-1, which, best)
