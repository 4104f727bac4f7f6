"""Low-rank adapters: a model stays as it is, and beside each of its linear layers a product of two thin matrices learns
(Hu et al., 2021).

What has been learned is W + scale·B·A. Added up (`merged`), it is a plain model again that costs nothing more to run.
"""

import copy
from collections.abc import Mapping
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.model.dropout import Dropout
from clearformer.model.from_weights import Stored
from clearformer.model.from_weights import plain as as_plain
from clearformer.model.weights import HEAD, put_weights, weights_of

T = TypeVar("T", bound=Stored)
A, B, SCALE = "lora_a", "lora_b", "lora_scale"


class AdaptedLinear(nn.Linear):
    """A linear layer that no longer learns, and two thin matrices that do. R is the rank: A is R D, B is O R.

    B begins with zeros, so that a model with new adapters says what it said before.
    """

    def __init__(self, linear: nn.Linear, *, rank: int, scale: float, dropout: float = 0.0) -> None:
        super().__init__(linear.in_features, linear.out_features, bias=linear.bias is not None, device="meta")
        self.weight, self.bias = linear.weight, linear.bias
        self.weight.requires_grad_(False)
        if self.bias is not None:
            self.bias.requires_grad_(False)
        self.lora_a = nn.Parameter(torch.randn(rank, linear.in_features) * linear.in_features**-0.5)
        self.lora_b = nn.Parameter(torch.zeros(linear.out_features, rank))
        self.lora_scale: Tensor
        self.register_buffer(SCALE, torch.tensor(scale))  # saved, so that the weights alone say what they amount to
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """In this order the gradient of W is never computed: a third of a training step's work is saved."""
        thin = F.linear(self.dropout(x), self.lora_a)
        return F.linear(x, self.weight, self.bias) + F.linear(thin, self.lora_b) * self.lora_scale


def adapt(model: nn.Module, *, rank: int, scale: float, dropout: float = 0.0) -> None:
    """Put adapters beside every linear layer outside the head, and let nothing else outside the head learn."""
    if rank < 1:
        raise ValueError(f"the rank of adapters must be at least 1, not {rank}")
    for name, parameter in model.named_parameters():
        if not name.startswith(HEAD):
            parameter.requires_grad_(False)
    for name, module in list(model.named_modules()):
        if type(module) is nn.Linear and not name.startswith(HEAD):
            parent, _, last = name.rpartition(".")
            setattr(model.get_submodule(parent), last, AdaptedLinear(module, rank=rank, scale=scale, dropout=dropout))


def is_adapted(model: nn.Module) -> bool:
    """Whether a model has adapters."""
    return any(isinstance(module, AdaptedLinear) for module in model.modules())


def merged_weights(weights: Mapping[str, T]) -> dict[str, T | Tensor]:
    """Weights by name with adapters added to what they stand beside; without adapters, the same weights."""
    plain: dict[str, T | Tensor] = {
        name: weight for name, weight in weights.items() if name.rpartition(".")[2] not in (A, B, SCALE)
    }
    for name in weights:
        layer, _, last = name.rpartition(".")
        if last == A:
            a, b, scale = (as_plain(weights[f"{layer}.{part}"]) for part in (A, B, SCALE))
            base = as_plain(plain[f"{layer}.weight"])
            if b.shape[1:] != a.shape[:1] or (b.size(0), a.size(1)) != base.shape:
                sizes = f"{tuple(b.shape)} · {tuple(a.shape)}"
                raise ValueError(f"the adapter of {layer} is {sizes}, and its weight {tuple(base.shape)}")
            plain[f"{layer}.weight"] = base + scale * (b @ a)
    return plain


def merged(model: nn.Module) -> nn.Module:
    """A plain model that says the same; the model itself if it has no adapters."""
    if not is_adapted(model):
        return model
    plain = copy.deepcopy(model)
    for name, module in list(plain.named_modules()):
        if isinstance(module, AdaptedLinear):
            linear = nn.Linear(module.in_features, module.out_features, bias=module.bias is not None, device="meta")
            linear.weight, linear.bias = module.weight, module.bias
            parent, _, last = name.rpartition(".")
            setattr(plain.get_submodule(parent), last, linear)
    put_weights(plain, merged_weights(weights_of(model)))
    return plain
