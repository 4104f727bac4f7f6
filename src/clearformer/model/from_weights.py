"""A model built around weights that are there already: nothing is drawn at random, and nothing copied where it fits.

The weights may lie in a file that the system has mapped into memory: then they are read when they are first needed.
"""

import copy
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from clearformer.model.build import build
from clearformer.model.config import ModelConfig
from clearformer.model.heads import LanguageModel
from clearformer.model.narrow import is_half, narrowed
from clearformer.model.rounded import Rounded, RoundedLinear
from clearformer.model.transformer import DecoderOnly
from clearformer.model.weights import check_fit, weights_of

Stored = Tensor | Rounded


class Undrawn(TorchFunctionMode):
    """Skip the random initialisation of what will be replaced; `empty` takes no memory."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__module__", None) == "torch.nn.init" or func in _DRAWS:
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs | {"device": "meta"} if func is torch.empty else kwargs))


_DRAWS = (torch.Tensor.normal_, torch.Tensor.uniform_)


def shapes_of(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """The names and shapes of a model's weights, before anything takes memory."""
    with torch.device("meta"), Undrawn():
        return {name: tuple(tensor.shape) for name, tensor in weights_of(build(config)).items()}


def network_from(config: ModelConfig, weights: Mapping[str, Stored], *, narrow: bool = False) -> nn.Module:
    """The model that a configuration describes, around these weights; every name and shape must match.

    narrow: a model that continues texts keeps its matrices in the bits that they have, and computes with them in
    float32. It does not learn. Everything else becomes float32.
    """
    check_fit(shapes_of(config), weights)
    with Undrawn():
        model = build(config)
    kept = _narrow(model, weights) if narrow else set()
    places = _places(model)
    for name, own in weights_of(model).items():
        if name not in places:
            own.copy_(plain(weights[name]))  # a counter, or another saved buffer
            continue
        value = plain(weights[name], keep=name in kept)
        parameter = nn.Parameter(value.contiguous(), requires_grad=not kept and value.is_floating_point())
        for module, attribute in places[name]:
            setattr(module, attribute, parameter)
    for name in kept:
        if isinstance(weight := weights[name], Rounded):
            layer = name.removesuffix(".weight")
            linear: Any = model.get_submodule(layer)
            _replace(model, layer, RoundedLinear(weight, linear.bias))
    return model.eval()


def plain(weight: Stored, *, keep: bool = False) -> Tensor:
    """A weight as float32; keep: as it is, and nothing of one that its own layer will hold."""
    if isinstance(weight, Rounded):
        return torch.empty(weight.shape, device="meta") if keep else weight.restored()
    return weight if keep or not weight.is_floating_point() else weight.float()


def _narrow(model: Any, weights: Mapping[str, Stored]) -> set[str]:
    """Put layers for weights of fewer bits in place of plain ones, where a model can use them; returns their names."""
    if not isinstance(model, DecoderOnly) or not isinstance(model.head, LanguageModel):
        return set()
    kept = set()
    table: Any = model.decoder.front.embed
    shared = model.head.table is table.weight
    named: list[tuple[str, Any]] = list(model.named_modules())
    for layer, module in named:
        name = f"{layer}.weight"
        weight = weights.get(name)
        if type(module) is nn.Linear and isinstance(weight, Rounded):
            kept.add(name)
        elif (type(module) is nn.Linear or module is table) and is_half(weight):
            kept.add(name)
            _replace(model, layer, narrowed(module))
    if not shared and is_half(weights.get("head.table")):
        kept.add("head.table")
    elif shared:
        embed: Any = model.decoder.front.embed
        model.head.table = embed.weight
    return kept


def _replace(model: nn.Module, name: str, layer: nn.Module) -> None:
    parent, _, last = name.rpartition(".")
    setattr(model.get_submodule(parent), last, layer)


def _places(model: nn.Module) -> dict[str, list[tuple[nn.Module, str]]]:
    """Where each parameter stands: a shared one stands in several modules."""
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    places: dict[str, list[tuple[nn.Module, str]]] = {}
    for module in model.modules():
        for attribute, parameter in module._parameters.items():
            if parameter is not None:
                places.setdefault(names[id(parameter)], []).append((module, attribute))
    return places


def is_narrow(model: nn.Module) -> bool:
    """Whether any weight is kept in fewer bits than float32."""
    return any(weight.dtype != torch.float32 for weight in model.parameters())


def widened(model: nn.Module) -> nn.Module:
    """A copy whose weights are all float32 and can learn; what was shared is shared."""
    wide = copy.deepcopy(model)
    for name, module in list(wide.named_modules()):
        if isinstance(module, RoundedLinear):
            layer = nn.Linear(module.in_features, module.out_features, bias=module.bias is not None, device="meta")
            layer.weight, layer.bias = nn.Parameter(module.weight), module.bias  # type: ignore[assignment]
            _replace(wide, name, layer)
    for places in _places(wide).values():
        parameter = nn.Parameter(getattr(*places[0]).detach().float())
        for module, attribute in places:
            setattr(module, attribute, parameter)
    return wide
