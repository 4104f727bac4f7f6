"""A decoder alone as the decoders of text see it: one prompt, then token by token."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from clearformer.model.cache import DecoderCache
from clearformer.model.transformer import DecoderOnly


@dataclass
class Continued:
    """What the model remembers of every row."""

    cache: DecoderCache

    def select(self, rows: Tensor) -> "Continued":
        return Continued(self.cache.select(rows))


class ContinuationStepper:
    """Goes on with a single prompt."""

    def __init__(self, model: nn.Module) -> None:
        if not isinstance(model, DecoderOnly):
            raise TypeError("only a decoder alone goes on with a text")
        self._model = model

    @torch.inference_mode()
    def start(self, source: tuple[int, ...]) -> tuple[Tensor, Continued]:
        """Read the prompt but for its last token, which is the first to be fed."""
        cache = self._model.start_cache()
        if len(source) > 1:
            self._model(torch.tensor([source[:-1]]), cache=cache)
        return torch.tensor([source[-1]]), Continued(cache)

    @torch.inference_mode()
    def step(self, tokens: Tensor, state: Continued) -> tuple[Tensor, Continued]:
        """Feed one token to every row and return the logits of the next."""
        logits: Tensor = self._model(tokens[:, None], cache=state.cache)
        return logits[:, -1], state
