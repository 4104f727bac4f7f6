"""A language model that learns from a text while it is scored on it (Krause et al., 2018, "Dynamic evaluation")."""

import copy

import torch
from torch import Tensor, nn

LARGEST_NORM = 1.0  # of a gradient: a surprising stretch must not undo the model


class DynamicModel:
    """A copy of a model that takes one gradient step on each stretch after it was scored.

    It is a copy that learns, so whatever happens, the model itself stays as it was. decay: which part of the way back
    to the first weights each step goes, so that what was read long ago is forgotten.
    """

    def __init__(self, model: nn.Module, *, rate: float, decay: float) -> None:
        self.model = copy.deepcopy(model).eval()
        self.rate, self.decay = rate, decay
        self._weights = list(self.model.requires_grad_(True).parameters())
        self._first = [weight.detach().clone() for weight in self._weights]

    def learn(self, loss: Tensor) -> None:
        """loss: the mean over a stretch that was scored, with its graph."""
        gradients = torch.autograd.grad(loss, self._weights, allow_unused=True)
        learned = [gradient for gradient in gradients if gradient is not None]
        norm = torch.nn.utils.get_total_norm(learned)
        rate = self.rate * float((LARGEST_NORM / norm.clamp(min=1e-12)).clamp(max=1.0))
        with torch.no_grad():
            for weight, gradient, first in zip(self._weights, gradients, self._first, strict=True):
                if gradient is not None:
                    weight.add_(gradient, alpha=-rate)
                    weight.lerp_(first, self.decay)
