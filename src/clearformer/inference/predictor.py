"""What all objects that use a model share: how they describe themselves."""

from typing import Any

from torch import nn


def size(model: nn.Module) -> int:
    """How many parameters a model has."""
    return sum(weight.numel() for weight in model.parameters())


def describe(predictor: Any, more: str = "") -> str:
    """A line for people: what it is, how large, and what else there is to say."""
    config = predictor.bundle.config
    count = size(predictor.bundle.model)  # none where another engine holds them
    weights = f"{count / 1e6:.1f} M parameters" if count else "by ctranslate2"
    parts = [config.family, weights, *([more] if more else [])]
    return f"{type(predictor).__name__}({', '.join(parts)})"
