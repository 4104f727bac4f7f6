"""What a model costs before it is built: parameters by part, bytes, and floating-point operations per token.

The model is built on the meta device, where tensors have shapes and no values, so a model of 175 billion parameters is
counted in seconds and without memory. Operations are those of the ordinary forward pass.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from clearformer.model.attention import Attention, attend
from clearformer.model.build import build
from clearformer.model.config import ModelConfig
from clearformer.model.transformer import EncoderDecoder

HALVES = ("texts", "pictures")


@dataclass(frozen=True, kw_only=True)
class ModelCost:
    """parts: parameters of each part, shared tables counted at their first use; they add up to `total`."""

    total: int
    active: int  # those that a token goes through: all, but for experts that are not chosen for it
    parts: dict[str, int]
    bytes: int  # of the weights in float32
    training_bytes: int  # weights, gradients and Adam's two moments
    length: int  # the sequence length that the operations are counted for
    flops_per_token: int  # forward, multiplications and additions both counted; about three times as many in training


def count_cost(config: ModelConfig, *, length: int = 128) -> ModelCost:
    """Count a configuration without allocating it."""
    with torch.device("meta"):
        model = build(config).eval()
        if config.pair is not None:  # one picture and one text
            seen = config.of_pictures.front
            length = min(length, config.of_texts.max_len)
            tokens = length + seen.places + seen.registers
            return _counted(model, config, count_operations(model, config, length), tokens)
        if config.front.kind == "patches":  # the picture sets the length
            length = config.front.places + config.front.registers
        return _counted(model, config, count_operations(model, config, length), length)


def _counted(model: nn.Module, config: ModelConfig, operations: int, length: int) -> ModelCost:
    parts = parameters_by_part(model)
    total = sum(parts.values())
    return ModelCost(
        total=total,
        active=_active(model, config),
        parts=parts,
        bytes=4 * total,
        training_bytes=16 * total,
        length=length,
        flops_per_token=operations // length,
    )


def parameters_by_part(model: nn.Module) -> dict[str, int]:
    """Parameters by front end, stack of layers, norm and head."""
    parts: dict[str, int] = {}
    for name, parameter in model.named_parameters():
        part = _part(name)
        parts[part] = parts.get(part, 0) + parameter.numel()
    return parts


def _active(model: nn.Module, config: ModelConfig) -> int:
    """All parameters, but of a layer's experts only as many as are chosen."""
    shared = sum(parameter.numel() for name, parameter in model.named_parameters() if ".experts." not in name)
    in_experts = sum(parameter.numel() for name, parameter in model.named_parameters() if ".experts." in name)
    return shared + in_experts * config.chosen // (config.experts or config.chosen)


def _part(name: str) -> str:
    """encoder.layers.3.self_attn.q_proj.weight -> encoder.layers.self_attn; summed over layers."""
    words = [word for word in name.split(".")[:-1] if not word.isdigit()] or [name]
    half = 1 if words[0] in HALVES else 0  # of a pair: texts.decoder.layers.self_attn
    return ".".join(words[: half + 3]) if "layers" in words[: half + 2] else ".".join(words[: half + 2])


def count_operations(model: nn.Module, config: ModelConfig, length: int) -> int:
    """Multiplications and additions of one forward pass over one sequence (and a target of the same length)."""
    for module in model.modules():
        if isinstance(module, Attention):
            module.kernel = attend  # fused kernels are counted differently on every device
    model.requires_grad_(False)  # a pass forward alone: the counter would look for a backward one
    tokens = torch.zeros(1, length, dtype=torch.long)
    arguments: tuple[Tensor, ...] = (_example(config.of_pictures, tokens),)
    if (
        config.pair is not None
        or isinstance(model, EncoderDecoder)
        or (config.shape in ("lstm", "convolution") and config.front.kind == "tokens")
    ):
        arguments += (tokens,)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(*arguments)
    return int(counter.get_total_flops())


def _example(config: ModelConfig, tokens: Tensor) -> Tensor:
    """An input of the kind that the front end takes."""
    front = config.front
    if front.kind == "patches":
        return torch.zeros(1, front.channels, front.picture, front.picture)
    if front.kind == "sound":
        return torch.zeros(1, 2 * tokens.size(1), front.mels)
    if front.kind == "samples":
        return torch.zeros(1, config.samples.reach + (tokens.size(1) - 1) * config.samples.hop)
    return tokens
