"""Our models as the decoders see them: start, step, select and join rows.

The rest of the batch must not change a sentence's tokens, not even through the last bit of a float that decides a near
tie. Kernels choose their summation order by the number of rows and columns and by a row's place, so:

- rows are filled up with copies to a multiple of a block, source slots with padding, and matrix kernels then treat
  all rows alike;
- what is kept of the source has the layout that any later selection of rows gives it (`FixedCache`, `BeamCache`);
- single queries attend by the formula instead of the fused kernel (`attend_fused`).

Then a row of a Transformer whose heads are at least 32 wide (those of all presets) has the same numbers alone and in
a batch, bit for bit, on one thread and on several; a test checks this for several batch sizes. Narrower heads, shifted
relative scores and the recurrent and convolutional baselines stay within rounding.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from clearformer.decoding.protocol import Stepper
from clearformer.decoding.rules import Rules
from clearformer.model.attention_context import Memory
from clearformer.model.fast.beam_cache import BeamCache
from clearformer.model.fast.decoder import FastDecoder, capture_decoder
from clearformer.model.fast.encoder import FastEncoder, capture_encoder
from clearformer.model.fast.row_blocks import fill_block

SLOT_BLOCK = (
    16  # with heads of 32, enough that the library's batched product never uses its kernel for small remainders
)


class SourceBatch(NamedTuple):
    """Padded source sentences: tokens B S, keep B S (True = real)."""

    tokens: Tensor
    keep: Tensor


def pad_sources(rows: list[list[int]], pad: int, block: int = SLOT_BLOCK) -> SourceBatch:
    """Sentences padded to one length, a multiple of the block."""
    longest = max(map(len, rows))
    length = -(-longest // block) * block
    tokens = torch.tensor([row + [pad] * (length - len(row)) for row in rows])
    lengths = torch.tensor([len(row) for row in rows])
    return SourceBatch(tokens, torch.arange(length)[None] < lengths[:, None])


@dataclass
class Seq2SeqState:
    """What an encoder–decoder remembers between steps; `rows` of the model's rows are real, the rest fill a block."""

    memory: Memory
    cache: Any  # a DecoderCache, or the recurrent or convolutional model's own
    rows: int

    def select(self, rows: Tensor) -> "Seq2SeqState":
        padded = fill_block(rows)
        return Seq2SeqState(self.memory.select(padded), self.cache.select(padded), len(rows))

    def join(self, other: "Seq2SeqState") -> "Seq2SeqState":
        """The real rows of both, in whole blocks again."""
        counts = len(self.memory.states), len(other.memory.states)
        slots = torch.arange(sum(counts), device=self.memory.states.device)
        real = torch.cat((slots[: self.rows], slots[counts[0] : counts[0] + other.rows]))
        joined = Seq2SeqState(self.memory.join(other.memory), self.cache.join(other.cache, counts), sum(counts))
        return joined.select(real)


class Seq2SeqStepper:
    """An encoder–decoder (Transformer, recurrent or convolutional) behind the decoders' protocol."""

    def __init__(self, model: nn.Module, *, bos: int) -> None:
        self.model: Any = model
        self.bos = bos
        self.device = next(model.parameters()).device

    @torch.inference_mode()
    def start(self, source: SourceBatch) -> tuple[Tensor, Seq2SeqState]:
        """Read the sources; the first input token of every row is the start symbol."""
        rows = len(source.tokens)
        memory: Memory = self.model.encode(source.tokens.to(self.device), keep=source.keep.to(self.device))
        memory = memory.select(fill_block(torch.arange(rows, device=self.device)))
        first = torch.full((rows,), self.bos, device=self.device)
        return first, Seq2SeqState(memory, self.model.start_cache(), rows)

    @torch.inference_mode()
    def step(self, tokens: Tensor, state: Seq2SeqState) -> tuple[Tensor, Seq2SeqState]:
        """Feed one token to every row and return the logits of the next."""
        logits = self.model.decode(fill_block(tokens)[:, None], state.memory, cache=state.cache)
        return logits[: state.rows, -1], state


class FastStepper:
    """The same with the fast decoder and, where there is one, the fast encoder (None: the readable one): equal within
    rounding, several times faster."""

    def __init__(self, model: nn.Module, encoder: FastEncoder | None, decoder: FastDecoder, *, bos: int) -> None:
        self.model: Any = model
        self.bos, self._encoder, self._decoder = bos, encoder, decoder
        self.device = next(model.parameters()).device

    @torch.inference_mode()
    def start(self, source: SourceBatch) -> tuple[Tensor, BeamCache]:
        if self._decoder.stale():  # the model was trained since
            self._decoder = FastDecoder(self.model)
        first = torch.full((len(source.tokens),), self.bos, device=self.device)
        return first, self._decoder.start(self._read(source))

    def _read(self, source: SourceBatch) -> Memory:
        tokens, keep = source.tokens.to(self.device), source.keep.to(self.device)
        if self._encoder is None:
            memory: Memory = self.model.encode(tokens, keep=keep)
            return memory
        if self._encoder.stale():
            self._encoder = FastEncoder(self.model.encoder)
        return self._encoder.read(tokens, keep)

    @torch.inference_mode()
    def step(self, tokens: Tensor, state: BeamCache) -> tuple[Tensor, BeamCache]:
        return self._decoder.step(tokens, state), state


@dataclass(frozen=True, kw_only=True)
class SearchInput:
    """All that a search needs of a model and its texts: for beam search, greedy decoding and sampling alike."""

    stepper: Stepper[Any]
    source: Any
    rules: Rules
    max_len: list[int]
    prefixes: list[Sequence[int]] | None

    def arguments(self) -> dict[str, Any]:
        """The same as keyword arguments."""
        return {name: getattr(self, name) for name in ("stepper", "source", "rules", "max_len", "prefixes")}


def stepper_for(model: nn.Module, *, bos: int) -> Stepper[Any]:
    """The fastest stepper that supports this model."""
    decoder = capture_decoder(model)
    if decoder is None:
        return Seq2SeqStepper(model, bos=bos)
    return FastStepper(model, capture_encoder(model.encoder), decoder, bos=bos)  # type: ignore[arg-type]
