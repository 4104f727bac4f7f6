"""Rows of ids in, what a model that reads says of them out, by CTranslate2: as PyTorch does it, in half the time.

The engine runs the encoder and leaves padding out; the head is ours (`array_heads.py`). Nothing here needs PyTorch.
Each core reads a part of a batch of its own: threads that share one product wait for each other in a busy loop, and
where another program holds a core that takes a hundred times as long as the product.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file

from clearformer.folder.description import ModelFolder, open_folder
from clearformer.foundation import settings, storage
from clearformer.foundation.machine import cores
from clearformer.inference.array_heads import Array, Lengths, array_head
from clearformer.inference.wrong_use import use_of
from clearformer.model.config import ModelConfig

HEAD = "head.safetensors"  # as `to_ctranslate2` writes it
Rows = Sequence[Sequence[int]]


class ReadStates(NamedTuple):
    """The last hidden states of rows, B T D, and how many of each row are real; those of padding mean nothing."""

    states: Array
    lengths: Lengths


class CTranslate2Encoder:
    """A folder that `to_ctranslate2` made of a model that only reads, in use."""

    def __init__(self, folder: Path | ModelFolder) -> None:
        import ctranslate2

        opened = open_folder(folder)
        opened.verify()
        made = opened.description.engine
        if made is None:
            raise ValueError(f"{opened.path} holds no weights for ctranslate2; convert it first")
        self.config = settings.parse(ModelConfig, opened.description.model, str(opened.path / "config.json"))
        if not (opened.path / HEAD).exists():
            does, verb = use_of(self.config, opened.description.task)
            raise ValueError(f"{opened.path} holds a model that {does}; use `clearformer {verb}`")
        self.quantization = str(made.get("quantization"))
        try:
            self._head = array_head(self.config.head, load_file(opened.path / HEAD))
        except SafetensorError as error:
            raise storage.DamagedError(f"{opened.path / HEAD} cannot be read: {error}; make the folder again") from None
        self._workers = ThreadPoolExecutor(len(cores()))
        self._engine = ctranslate2.Encoder(
            str(opened.path), device="cpu", inter_threads=len(cores()), intra_threads=1, max_queued_batches=-1
        )

    def states(self, rows: Rows, types: Rows | None = None) -> ReadStates:
        """rows: ids of different lengths, none of them empty. types: of their tokens, zeros if not given."""
        self._check(rows, types)
        given = [list(row) for row in rows]
        kinds = [[0] * len(row) for row in given] if types is None else [list(row) for row in types]
        lengths = np.array([len(row) for row in given])
        if len(given) == 1:
            return ReadStates(self._read(given, kinds), lengths)
        share = -(-len(given) // len(cores()))
        starts = range(0, len(given), share)
        rest = [(given[start : start + share], kinds[start : start + share]) for start in starts]
        states = np.zeros((len(given), int(lengths.max()), self.config.dim), np.float32)
        for start, found in zip(starts, self._workers.map(self._read, *zip(*rest, strict=True)), strict=True):
            states[start : start + share, : found.shape[1]] = found
        return ReadStates(states, lengths)

    def _read(self, rows: list[list[int]], types: list[list[int]]) -> Array:
        """What one worker does."""
        extra = {"token_type_ids": types} if self.config.embedding.types else {}
        states: Array = np.array(self._engine.forward_batch(rows, **extra).last_hidden_state)
        return states

    def run(self, rows: Rows, types: Rows | None = None) -> NDArray[np.float32]:
        """What the head says of each row."""
        return self._head(*self.states(rows, types))

    def _check(self, rows: Rows, types: Rows | None) -> None:
        """The engine itself reads past the end of a table without a word."""
        if not rows or not all(rows):
            raise ValueError("there is nothing to read in an empty row; leave it out")
        if (longest := max(map(len, rows))) > self.config.max_len:
            raise ValueError(f"a row has {longest} tokens, and the model reads {self.config.max_len}; shorten it")
        _within(rows, self.config.vocab_size, "tokens")
        if types is None:
            return
        if not self.config.embedding.types:
            raise ValueError("token types were given, but this model has none; leave types out")
        if [len(row) for row in types] != [len(row) for row in rows]:
            raise ValueError("there must be a type for each token")
        _within(types, self.config.embedding.types, "types")


def _within(rows: Rows, count: int, what: str) -> None:
    least, most = min(map(min, rows)), max(map(max, rows))
    if least < 0 or most >= count:
        wrong = least if least < 0 else most
        raise ValueError(f"{wrong} is outside this model's {count} {what} (0 to {count - 1})")
