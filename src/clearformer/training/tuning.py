"""How a model that begins with another's weights is changed: which parts learn, how fast, or adapters beside them.

The layers next to the input know what is common to all texts and need little change; the head is new and needs most.
"""

from dataclasses import dataclass

from torch import nn

from clearformer.model.adapters import adapt
from clearformer.model.weights import LAYER

FRONT = ".front."  # what turns the input into the first states


@dataclass(frozen=True, kw_only=True)
class TuningConfig:
    """All of it at one rate by default, as for a model that begins with random weights."""

    layer_decay: float = 1.0  # each layer's rate is this share of the rate of the one above it; 1 = all the same
    frozen_embeddings: bool = False  # the embeddings do not learn
    frozen_layers: int = 0  # so many layers, from the input on, do not learn, nor do the embeddings
    rank: int = 0  # above 0, adapters of this rank learn (LoRA), and of the rest only the head if it is new
    scale: float = 2.0  # what an adapter's product is multiplied by
    dropout: float = 0.0  # on what goes into an adapter

    def __post_init__(self) -> None:
        if not 0 < self.layer_decay <= 1:
            raise ValueError(f"training.tuning.layer_decay must be above 0 and at most 1, not {self.layer_decay}")
        for name in ("frozen_layers", "rank"):
            if getattr(self, name) < 0:
                raise ValueError(f"training.tuning.{name} must not be negative, but is {getattr(self, name)}")
        if self.rank and (self.frozen_embeddings or self.frozen_layers):
            raise ValueError("training.tuning.rank freezes everything but the adapters; leave frozen_* out")


def choose_what_learns(model: nn.Module, config: TuningConfig, new: list[str]) -> None:
    """Freeze what the configuration says, or put adapters in. new: names of weights that no start gave."""
    if config.rank:
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(name in new)
        adapt(model, rank=config.rank, scale=config.scale, dropout=config.dropout)
        return
    depths = depths_of(model)
    top = max(depths.values())
    if config.frozen_layers >= top:
        raise ValueError(f"training.tuning.frozen_layers is {config.frozen_layers}, but the model has {top - 1} layers")
    lowest = config.frozen_layers + 1 if config.frozen_layers else int(config.frozen_embeddings)
    for name, parameter in model.named_parameters():
        if depths[name] < lowest:
            parameter.requires_grad_(False)


def shares_of_the_rate(model: nn.Module, layer_decay: float) -> dict[str, float]:
    """By parameter, the share of the learning rate that it gets: the head all of it."""
    depths = depths_of(model)
    top = max(depths.values())
    return {name: layer_decay ** (top - depth) for name, depth in depths.items()}


def depths_of(model: nn.Module) -> dict[str, int]:
    """By parameter, how far from the input it stands: embeddings 0, the first layer 1, the head most."""
    names = [name for name, _ in model.named_parameters()]
    layers = {name: int(found[2]) + 1 for name in names if (found := LAYER.fullmatch(name))}
    top = max(layers.values(), default=0) + 1
    return {name: layers.get(name, 0 if FRONT in name else top) for name in names}
