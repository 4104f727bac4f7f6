"""A model's weights as a flat dictionary, and back: the one place where names and shapes are compared."""

import torch
from torch import Tensor, nn


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and saved buffers by name, each shared tensor once."""
    tensors: dict[str, Tensor] = dict(model.named_parameters())
    persistent = model.state_dict().keys()
    tensors |= {name: buffer for name, buffer in model.named_buffers() if name in persistent}
    return {name: tensor.detach().contiguous() for name, tensor in tensors.items()}


@torch.no_grad()
def put_weights(model: nn.Module, weights: dict[str, Tensor]) -> None:
    """Copy weights in; every name and shape must match, or nothing is changed."""
    own = weights_of(model)
    missing, extra = own.keys() - weights.keys(), weights.keys() - own.keys()
    if missing or extra:
        raise ValueError(
            f"the weights do not fit the model: missing {_some(missing)}, unexpected {_some(extra)}; another model?"
        )
    for name, tensor in own.items():
        if tensor.shape != weights[name].shape:
            raise ValueError(f"{name} is {tuple(weights[name].shape)}, but the model has {tuple(tensor.shape)}")
    for name, tensor in own.items():
        tensor.copy_(weights[name])


def _some(names: set[str]) -> str:
    shown = sorted(names)
    return ", ".join(shown[:3]) + (f" and {len(shown) - 3} more" if len(shown) > 3 else "") if shown else "none"
