"""The fast engine in the place of a PyTorch network: the same call, tensors in and tensors out.

So a `Bundle` can hold it, and every object that uses a bundle's network for reading works with either engine. There
are no parameters here, and nothing to look inside or to train: for that the network itself is loaded.
"""

import torch
from torch import Tensor, nn

from clearformer.folder.bundle import Bundle
from clearformer.folder.description import ModelFolder
from clearformer.inference.ctranslate2_reader import CTranslate2Encoder
from clearformer.model.attention_context import Memory
from clearformer.model.trace import watcher

CLOSED = "ctranslate2 cannot be looked inside; open the folder that was trained, with the torch engine"


class EngineNetwork(nn.Module):
    """`EncoderOnly`, run by CTranslate2. B batch, T length, D model width."""

    def __init__(self, engine: CTranslate2Encoder) -> None:
        super().__init__()
        self.engine = engine

    @property
    def encoder(self) -> nn.Module:
        """Whoever wants to look inside a network asks for its encoder, or traces it."""
        raise ValueError(CLOSED)

    def encode(self, inputs: Tensor, *, keep: Tensor | None = None, types: Tensor | None = None) -> Memory:
        """The states without the head: B T D, zeros for padding that no row needs."""
        _refuse_trace()
        states = self.engine.states(_rows(inputs, keep), None if types is None else _rows(types, keep)).states
        return Memory(_widen(torch.from_numpy(states), inputs.size(1)), keep)

    def forward(self, inputs: Tensor, *, keep: Tensor | None = None, types: Tensor | None = None) -> Tensor:
        """inputs: B T; keep: B T, True = real, padding to the right. Returns the head's output."""
        _refuse_trace()
        said = self.engine.run(_rows(inputs, keep), None if types is None else _rows(types, keep))
        output = torch.from_numpy(said)
        return output if output.dim() == 2 else _widen(output, inputs.size(1))


def _refuse_trace() -> None:
    if watcher() is not None:
        raise ValueError(CLOSED)


def _rows(given: Tensor, keep: Tensor | None) -> list[list[int]]:
    """What is real of each row."""
    rows: list[list[int]] = given.tolist()
    if keep is None:
        return rows
    if bool((keep[:, 1:] & ~keep[:, :-1]).any()):
        raise ValueError("ctranslate2 reads rows with padding to their right only")
    return [row[:length] for row, length in zip(rows, keep.sum(dim=1).tolist(), strict=True)]


def _widen(states: Tensor, length: int) -> Tensor:
    """Zeros up to the width of the batch that was given: the engine's rows end with the longest."""
    return nn.functional.pad(states, (0, 0, 0, length - states.size(1)))


def fast_bundle(folder: ModelFolder) -> Bundle:
    """A folder that `to_ctranslate2` made of a model that only reads, as the readers take it."""
    engine = CTranslate2Encoder(folder)
    return Bundle(
        config=engine.config,
        model=EngineNetwork(engine),
        task=folder.description.task,
        preprocessing=folder.preprocessing,
        provenance=dict(folder.provenance),
    )
