"""Muon: matrices are moved by the nearest orthogonal matrix to their averaged gradient, everything else by Adam.

A gradient has a few large directions and many small ones; Adam scales single numbers, so the large directions go on to
rule the step. Making the step orthogonal gives every direction the same length (Jordan et al., 2024). A small
Transformer then needs about two thirds of the tokens to come as far. The step is scaled to the size that Adam's
steps have (Liu et al., 2025), so that one schedule serves both.

It is for the matrices inside the layers. A table of embeddings has a row a token, and in a step most rows have no
gradient: that is Adam's.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.model.layers import DecoderLayer, EncoderLayer

# The polynomial a·x + b·x³ + c·x⁵, applied five times, brings every singular value that is not tiny near 1, quickly
# rather than exactly: between 0.7 and 1.2, which serves as well (Jordan et al., 2024).
A, B, C, TIMES = 3.4445, -4.7750, 2.0315, 5
USUAL = 0.2  # the root mean square of Adam's steps, in units of the rate


def layer_matrices(model: nn.Module) -> list[Tensor]:
    """The weights of all projections inside a model's layers."""
    layers = [module for module in model.modules() if isinstance(module, EncoderLayer | DecoderLayer)]
    linear = (module for layer in layers for module in layer.modules() if isinstance(module, nn.Linear))
    return list(dict.fromkeys(module.weight for module in linear if module.weight.requires_grad))


class Muon(torch.optim.Optimizer):
    """Moves `matrices`; `rest` moves the others. To the outside they are one optimiser with one state."""

    def __init__(
        self, matrices: Iterable[Tensor], rest: torch.optim.Optimizer, *, momentum: float, decay: float
    ) -> None:
        super().__init__(matrices, {"lr": 0.0, "share": 1.0, "momentum": momentum, "weight_decay": decay})
        self._matrices, self._rest = self.param_groups[0], rest
        self.param_groups = [self._matrices, *rest.param_groups]
        rest.state = self.state

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """One update of everything."""
        assert closure is None
        self._rest.step()
        rate, momentum, decay = (self._matrices[name] for name in ("lr", "momentum", "weight_decay"))
        moving = [matrix for matrix in self._matrices["params"] if matrix.grad is not None]
        if not moving:
            return
        gradients = [matrix.grad for matrix in moving]
        averages = [self._average(matrix) for matrix in moving]
        torch._foreach_lerp_(averages, gradients, 1 - momentum)
        ahead = torch._foreach_lerp(gradients, averages, momentum)  # Nesterov: where the average is going
        if decay:
            torch._foreach_mul_(moving, 1 - rate * decay)
        alike: dict[torch.Size, list[int]] = defaultdict(list)
        for place, matrix in enumerate(moving):
            alike[matrix.shape].append(place)
        for shape, places in alike.items():
            steps = orthogonal(torch.stack([ahead[place] for place in places]))
            length = -rate * USUAL * math.sqrt(max(shape))
            torch._foreach_add_([moving[place] for place in places], list(steps), alpha=length)

    def _average(self, matrix: Tensor) -> Tensor:
        state: dict[str, Any] = self.state[matrix]
        if "momentum" not in state:
            state["momentum"] = torch.zeros_like(matrix)
        average: Tensor = state["momentum"]
        return average


def orthogonal(matrices: Tensor) -> Tensor:
    """The same singular vectors, all singular values near 1. matrices: N R C."""
    size = matrices.flatten(1).norm(dim=1).clamp(min=1e-7)  # no singular value is larger
    x: Tensor = matrices / size[:, None, None]
    if tall := x.size(1) > x.size(2):  # the products below have the size of the first side
        x = x.mT.contiguous()
    for _ in range(TIMES):
        gram = torch.bmm(x, x.mT)
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=B, alpha=C), x, beta=A)
    made: Tensor = x.mT if tall else x
    return made
