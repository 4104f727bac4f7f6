"""Stacks of encoder layers from the model's own parts, and gradients by layer: for questions about depth."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from clearformer.model.attention import Attention
from clearformer.model.attention_context import AttentionContext
from clearformer.model.layers import EncoderLayer, FeedForward, Residual

DEPTHS = (2, 4, 8, 16, 24)


class Bypassed(Residual):
    """A residual without its sum: the layer's input is lost. Not for use: it shows what the sum is for."""

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        after: Tensor = self.after(sublayer(self.before(x)))
        return after

    def __init__(self, norm: nn.Module) -> None:
        super().__init__(after=norm)


def stack_of(depth: int, dim: int, residual: Callable[[], Residual]) -> list[EncoderLayer]:
    """Fresh layers with Xavier's weights, as a recipe would begin."""
    layers = []
    for _ in range(depth):
        layer = EncoderLayer(self_attn=Attention(dim, heads=4), ffn=FeedForward(dim, 4 * dim), residual=residual)
        for part in layer.modules():
            if isinstance(part, nn.Linear):
                nn.init.xavier_uniform_(part.weight)
                nn.init.zeros_(part.bias)
        layers.append(layer)
    return layers


def gradients_by_layer(layers: list[EncoderLayer], x: Tensor) -> tuple[list[float], Tensor]:
    """The size of the gradient before each layer, for a random goal at the end, and the output."""
    places = torch.arange(x.size(1))[None]
    context = AttentionContext(places, places)
    states = [x.requires_grad_()]
    for layer in layers:
        states.append(layer(states[-1], context))
    goal = torch.randn_like(states[-1])
    gradients = torch.autograd.grad((states[-1] * goal).sum(), states[:-1])
    return [gradient.norm().item() for gradient in gradients], states[-1].detach()
