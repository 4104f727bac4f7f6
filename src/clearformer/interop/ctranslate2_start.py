"""Decoders of CTranslate2 that begin with zeros instead of a token: converted Marian and OPUS-MT models.

Our decoders begin with a token. A row of zeros behind both tables says the same in the words that every model here
knows, and it is what Marian's own files have for their padding. A bias keeps it from ever being written.
"""

from dataclasses import replace

import torch
from torch import Tensor

from clearformer.interop.renaming import Shape, Store
from clearformer.model.config import ModelConfig

FACT = "decoder/start_from_zero_embedding"
NEVER = -1e4  # a logit: small enough for a probability of zero, and finite also in half precision

_TABLES = ("encoder.embeddings_0.weight", "encoder.embeddings.weight", "decoder.embeddings.weight")
_OUTPUT, _BIAS = "decoder.projection.weight", "decoder.projection.bias"


def with_start(config: ModelConfig) -> ModelConfig:
    """The configuration with one more token, the last one, from which the decoder begins."""
    target = config.target_vocab_size
    return replace(
        config,
        vocab_size=config.vocab_size + 1,
        target_vocab_size=None if target is None else target + 1,
        head=replace(config.head, bias=True),
    )


class ZeroStart:
    """A store whose tables have a row of zeros more, and whose output has a bias that forbids it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.shapes: dict[str, Shape] = {
            name: (shape[0] + 1, *shape[1:]) if name in (*_TABLES, _OUTPUT, _BIAS) else shape
            for name, shape in store.shapes.items()
        }
        self.shapes[_BIAS] = (self.shapes[_OUTPUT][0],)

    def read(self, name: str) -> Tensor:
        if name == _BIAS:
            known = name in self._store.shapes
            bias = self._store.read(name) if known else torch.zeros(self.shapes[name][0] - 1)
            return torch.cat((bias, bias.new_tensor([NEVER])))
        value = self._store.read(name)
        if self.shapes[name] != self._store.shapes[name]:
            value = torch.cat((value, value.new_zeros(1, *value.shape[1:])))
        return value
