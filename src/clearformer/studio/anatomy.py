"""What a model is made of: its blocks in order, with parameters and operations of each."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from clearformer.foundation import settings
from clearformer.model.attention import Attention, attend
from clearformer.model.build import build
from clearformer.model.config import ModelConfig
from clearformer.model.cost import parameters_by_part
from clearformer.studio.attention_layers import attention_layers
from clearformer.studio.shown_model import ShownModel
from clearformer.tasks import name_task


def describe(shown_model: ShownModel, task: str) -> dict[str, Any]:
    """What every page needs to know of the model."""
    config, provenance = shown_model.config, shown_model.bundle.provenance
    return {
        "name": shown_model.name,
        "family": config.family,
        "shape": config.shape,
        "task": task,
        "use": name_task(shown_model.bundle.task, settings.to_plain(config)),
        "has_tokenizer": shown_model.source_tokenizer is not None,
        "reads_tokens": shown_model.reads_tokens,
        "has_target": shown_model.has_target,
        "config": settings.to_plain(config),
        "attention_layers": [asdict(layer) for layer in attention_layers(shown_model.model)],
        "layers": {stack: len(module.layers) for stack, module in _stacks(shown_model.model)},
        "embedding_scale": _embedding_scales(shown_model.model),
        "source_language": provenance.get("source_language"),
        "target_language": provenance.get("target_language"),
        "provenance": {key: value for key, value in provenance.items() if isinstance(value, str | int)},
        "parameters": sum(parameters_by_part(shown_model.model).values()),
    }


def anatomy(shown_model: ShownModel, length: int) -> dict[str, Any]:
    """Parameters and operations by part, for an input of this length."""
    operations = operations_by_part(shown_model.config, length) if shown_model.reads_tokens else {}
    parameters = parameters_by_part(shown_model.model)
    names = [*parameters, *(name for name in operations if name not in parameters)]  # a tied head has none of its own
    return {
        "length": length,
        "parts": [
            {"name": name, "parameters": parameters.get(name, 0), "operations": operations.get(name, 0)}
            for name in names
        ],
    }


def operations_by_part(config: ModelConfig, length: int) -> dict[str, int]:
    """Multiplications and additions of one forward pass by part, counted on a model without numbers."""
    with torch.device("meta"):
        model = build(config).eval()
        for module in model.modules():
            if isinstance(module, Attention):
                module.kernel = attend  # fused kernels are counted differently on every device
        tokens = torch.zeros(1, length, dtype=torch.long)
        arguments = (tokens, tokens) if config.shape in ("encoder-decoder", "lstm", "convolution") else (tokens,)
        with FlopCounterMode(display=False, depth=10) as counter, torch.no_grad():
            model(*arguments)
    parts: dict[str, int] = {}
    for name, counts in counter.get_flop_counts().items():
        words = name.split(".")[1:]  # the first word is the model's class
        if (part := _leaf(words)) is not None:
            parts[part] = parts.get(part, 0) + sum(counts.values())
    return parts


def _leaf(words: list[str]) -> str | None:
    """decoder.layers.3.self_attn -> decoder.layers.self_attn; only the level at which parts are counted."""
    kept = [word for word in words if not word.isdigit()]
    if words and words[-1].endswith("_residual"):
        return None  # it calls the attention inside, which is counted by itself
    if words == ["head"]:
        return "head"
    if len(kept) == 3 and kept[1] == "layers" and len(words) == 4:
        return ".".join(kept)
    return ".".join(kept) if len(kept) == 2 and kept[1] in ("front", "norm") else None


def _stacks(model: nn.Module) -> Iterator[tuple[str, Any]]:
    for name in ("encoder", "decoder"):
        stack = getattr(model, name, None)
        if stack is not None and hasattr(stack, "layers"):
            yield name, stack


def _embedding_scales(model: nn.Module) -> dict[str, float]:
    found = {}
    for name in ("encoder", "decoder"):
        front = getattr(getattr(model, name, None), "front", None)
        if front is not None and hasattr(front, "scale"):
            found[name] = float(front.scale)
    return found
