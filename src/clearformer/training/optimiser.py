"""Adam with the paper's constants, or Muon for the matrices, and running averages of the weights."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from clearformer.training.muon import Muon, layer_matrices


@dataclass(frozen=True, kw_only=True)
class OptimiserConfig:
    """Adam as in the 2017 paper; `decay` above 0 makes it AdamW, on matrices only. Muon moves the layers' matrices
    in steps of its own and leaves the rest to Adam.
    """

    kind: Literal["adam", "muon"] = "adam"  # muon learns more from the same text, if batches are large enough
    momentum: float = 0.95  # of Muon: the share of the past in each step
    beta1: float = 0.9  # of Adam: the share of the past in the mean of gradients
    beta2: float = 0.98  # of Adam: the share of the past in the mean of their squares
    eps: float = 1e-9  # of Adam: keeps a step finite where gradients are tiny
    decay: float = 0.0  # weight decay of matrices; above 0 makes Adam AdamW
    clip: float = 0.0  # largest gradient norm; 0 = never clipped, as in the paper
    ema: float = 0.0  # decay of a running average of the weights, used for validation and the finished model; 0 = none

    def __post_init__(self) -> None:
        for name in ("momentum", "beta1", "beta2", "ema"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(
                    f"training.optimiser.{name} is the share of the past in a mean, at least 0 and less than 1, not "
                    f"{getattr(self, name)}"
                )


def make_optimiser(
    model: nn.Module, config: OptimiserConfig, shares: Mapping[str, float] | None = None
) -> torch.optim.Optimizer:
    """The optimiser of a run; its rate is set at every step by the schedule, times each group's `share`.

    shares: of the rate, by parameter; 1 for all if they are not given.
    """
    learning = {name: p for name, p in model.named_parameters() if p.requires_grad}
    if not learning:
        raise ValueError("nothing of this model is left to learn; freeze less of it")
    share_of = {id(p): 1.0 if shares is None else shares[name] for name, p in learning.items()}
    if config.kind == "adam":
        return _adam(list(learning.values()), config, share_of)
    matrices = layer_matrices(model)
    if not matrices:
        raise ValueError(
            "muon moves the matrices of Transformer layers, and this model has none that learn; choose "
            'training.optimiser.kind = "adam"'
        )
    if len(set(share_of.values())) > 1:
        raise ValueError("muon has one rate for all layers; leave training.tuning.layer_decay at 1, or choose adam")
    apart = {id(matrix) for matrix in matrices}
    rest = _adam([p for p in learning.values() if id(p) not in apart], config, share_of)
    return Muon(matrices, rest, momentum=config.momentum, decay=config.decay)


def _adam(
    parameters: Sequence[nn.Parameter], config: OptimiserConfig, share_of: Mapping[int, float]
) -> torch.optim.AdamW:
    """One fused update for all parameters of a share; norms and biases are not pulled towards zero."""
    groups: dict[tuple[float, bool], list[nn.Parameter]] = defaultdict(list)
    for parameter in parameters:
        groups[share_of[id(parameter)], parameter.dim() > 1].append(parameter)
    return torch.optim.AdamW(
        [
            {"params": alike, "weight_decay": config.decay if matrices else 0.0, "share": share}
            for (share, matrices), alike in groups.items()
        ],
        lr=0.0,
        betas=(config.beta1, config.beta2),
        eps=config.eps,
        fused=True,
    )


class MovingAverage:
    """A copy of the weights that follows slowly: smoother than any single step's (Polyak and Juditsky, 1992)."""

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self.weights = {name: p.detach().clone() for name, p in model.named_parameters()}

    @torch.no_grad()
    def update(self, model: nn.Module, step: int) -> None:
        """Move towards the present weights; early on by more, or the random start would linger."""
        decay = min(self.decay, (1 + step) / (10 + step))
        torch._foreach_lerp_(list(self.weights.values()), list(model.parameters()), 1 - decay)

    @torch.no_grad()
    def put(self, weights: dict[str, Tensor]) -> None:
        """Take the average over from elsewhere, by name: files have an order of their own."""
        for name, weight in self.weights.items():
            weight.copy_(weights[name])

    @torch.no_grad()
    def swap(self, model: nn.Module) -> None:
        """Exchange the model's weights with the average; a second call undoes it."""
        for name, parameter in model.named_parameters():
            present = parameter.detach().clone()
            parameter.copy_(self.weights[name])
            self.weights[name].copy_(present)


def average(models: Iterable[dict[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of several models' weights (the paper averages its last checkpoints), summed in float64."""
    total: dict[str, Tensor] = {}
    count = 0
    for weights in models:
        count += 1
        for name, weight in weights.items():
            total[name] = weight.double() if count == 1 else total[name] + weight.double()
    if not count:
        raise ValueError("there is nothing to average: no checkpoint was given")
    return {name: (weight / count).float() for name, weight in total.items()}
