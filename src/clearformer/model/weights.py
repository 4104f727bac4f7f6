"""A model's weights as a flat dictionary and back; here names and shapes are compared."""

import re
from collections.abc import Mapping
from typing import Protocol

import torch
from torch import Tensor, nn

HEAD, TYPES = "head.", "front.type_embed.weight"
READS, WRITES = "encoder.", "decoder."
LAYER = re.compile(r"(.*\blayers)\.(\d+)\.(.*)")


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and saved buffers by name, each shared tensor once."""
    tensors: dict[str, Tensor] = dict(model.named_parameters())
    persistent = model.state_dict().keys()
    tensors |= {name: buffer for name, buffer in model.named_buffers() if name in persistent}
    return {name: tensor.detach().contiguous() for name, tensor in tensors.items()}


@torch.no_grad()
def put_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Copy weights in; every name and shape must match, or nothing is changed."""
    own = weights_of(model)
    check_fit({name: tuple(tensor.shape) for name, tensor in own.items()}, weights)
    for name, tensor in own.items():
        tensor.copy_(weights[name])


def check_fit(shapes: Mapping[str, tuple[int, ...]], weights: Mapping[str, "Shaped"]) -> None:
    """Refuse weights whose names or shapes are not the model's."""
    missing, extra = shapes.keys() - weights.keys(), weights.keys() - shapes.keys()
    if missing or extra:
        raise ValueError(
            f"the weights do not fit the model: missing {_some(missing)}, unexpected {_some(extra)}; another model's?"
        )
    for name, shape in shapes.items():
        if shape != tuple(weights[name].shape):
            raise ValueError(f"{name} is {tuple(weights[name].shape)}, but the model has {shape}")


class Shaped(Protocol):
    """What has a shape: a tensor, or one that was rounded."""

    @property
    def shape(self) -> torch.Size: ...


def start_from(model: nn.Module, weights: dict[str, Tensor]) -> list[str]:
    """Begin with another model's weights: fewer layers of them where this one is shallower, and a new head where the
    two heads differ. Token types that the other does not have begin like its first. A decoder beside an encoder that
    had none begins like it, and what looks across is new (Rothe et al., 2020). Returns the names of what is new.
    """
    own = weights_of(model)
    lent = _lend(weights) if any(name.startswith(WRITES) for name in own) else {}
    given = thin_out(weights | lent, model)
    given = {name: weight for name, weight in given.items() if name in own or name in weights}
    for name in own:
        if name.endswith(TYPES) and name in given and len(given[name]) < len(own[name]):
            more = given[name][:1].expand(len(own[name]) - len(given[name]), -1)
            given[name] = torch.cat((given[name], more))
    may_be_new = (HEAD, WRITES) if lent else (HEAD,)
    new = [
        name
        for name in own
        if name.startswith(may_be_new) and (name not in given or given[name].shape != own[name].shape)
    ]
    kept = {name: weight for name, weight in given.items() if name in own or not name.startswith(HEAD)}
    put_weights(model, kept | {name: own[name] for name in new})
    return new


def _lend(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """An encoder's weights under the names of a decoder; none where there is a decoder already."""
    if any(name.startswith(WRITES) for name in weights):
        return {}
    found = {name: weight for name, weight in weights.items() if name.startswith(READS)}
    return {WRITES + name.removeprefix(READS): weight for name, weight in found.items()}


def thin_out(weights: dict[str, Tensor], model: nn.Module) -> dict[str, Tensor]:
    """What a shallower model takes from a deeper one of the same widths: evenly spaced layers, the first and the last
    among them; a single layer takes the first. A model of the same depth takes everything.
    """
    wanted, given = _depths(weights_of(model)), _depths(weights)
    chosen: dict[str, Tensor] = {}
    for name, weight in weights.items():
        found = LAYER.fullmatch(name)
        if found is None or wanted.get(found[1], 0) >= given[found[1]]:
            chosen[name] = weight
            continue
        stack, count = found[1], wanted.get(found[1], 0)
        for place in range(count):
            if int(found[2]) == round(place * (given[stack] - 1) / max(1, count - 1)):
                chosen[f"{stack}.{place}.{found[3]}"] = weight
    return chosen


def _depths(weights: dict[str, Tensor]) -> dict[str, int]:
    """How many layers each stack has."""
    depths: dict[str, int] = {}
    for name in weights:
        if found := LAYER.fullmatch(name):
            depths[found[1]] = max(depths.get(found[1], 0), int(found[2]) + 1)
    return depths


def _some(names: set[str]) -> str:
    shown = sorted(names)
    return ", ".join(shown[:3]) + (f" and {len(shown) - 3} more" if len(shown) > 3 else "") if shown else "none"


def token_types(model: nn.Module) -> int:
    """How many types of tokens a model tells apart."""
    return next((len(weight) for name, weight in model.named_parameters() if name.endswith(TYPES)), 0)
