"""A language model that learns from a text while it is scored on it (Krause et al., 2018, "Dynamic evaluation")."""

from typing import Any

import torch
from torch import Tensor, nn

from clearformer.model.from_weights import widened

LARGEST = 3.0  # times the usual size of a weight's gradient: a surprising stretch must not undo the model


class DynamicModel:
    """A copy of a model that takes one gradient step on each stretch after it was scored.

    It is a copy that learns, so whatever happens, the model itself stays as it was. A gradient counts in units of its
    usual size so far, as in RMSprop, so that one rate suits all weights and models. decay: which part of the way back
    to the first weights each step goes, so that what was read long ago is forgotten.
    """

    def __init__(self, model: nn.Module, *, rate: float, decay: float) -> None:
        self.model: Any = widened(model).eval()
        self.rate, self.decay = rate, decay
        self._weights = list(self.model.requires_grad_(True).parameters())
        self._first = [weight.detach().clone() for weight in self._weights]
        self._squares = [torch.zeros_like(weight, requires_grad=False) for weight in self._weights]  # sums so far
        self._steps = 0

    def learn(self, loss: Tensor) -> None:
        """loss: the mean over a stretch that was scored, with its graph."""
        gradients = torch.autograd.grad(loss, self._weights, allow_unused=True, materialize_grads=True)
        self._steps += 1
        with torch.no_grad():
            for square, gradient in zip(self._squares, gradients, strict=True):
                square.addcmul_(gradient, gradient)
            # Many weights have tiny gradients, such as the rows of words that do not come up: they stay small.
            count = sum(map(torch.numel, self._squares))
            floor = sum(float(square.sum()) for square in self._squares) / count / self._steps
            for weight, gradient, square, first in zip(
                self._weights, gradients, self._squares, self._first, strict=True
            ):
                usual = (square / self._steps).sqrt_().add_(max(floor**0.5, 1e-12))
                weight.sub_((gradient / usual).clamp_(-LARGEST, LARGEST), alpha=self.rate)
                weight.lerp_(first, self.decay)
