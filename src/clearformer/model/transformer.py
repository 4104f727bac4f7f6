"""Stacks of layers, and the models that they make: encoder–decoder, encoder only, decoder only, encoder with queries.

B batch, T length, S memory length, D model width, V vocabulary, Q queries.
"""

from collections.abc import Collection, Sequence

import torch
from torch import Tensor, nn

from clearformer.model import masks
from clearformer.model.attention_context import AttentionContext, Memory, position_ids
from clearformer.model.cache import Cache, DecoderCache
from clearformer.model.copying import CopyingHead
from clearformer.model.frontends import QueryFrontend
from clearformer.model.layers import DecoderLayer, EncoderLayer
from clearformer.model.segment_memory import SegmentMemory
from clearformer.model.trace import note


class Encoder(nn.Module):
    """A front end and layers in which every position sees every other, or those within a window to both sides."""

    def __init__(
        self,
        front: nn.Module,
        layers: Sequence[EncoderLayer],
        norm: nn.Module | None = None,
        *,
        window: int | None = None,
        wide: Collection[int] = (),
    ) -> None:
        super().__init__()
        self.front = front
        self.layers = nn.ModuleList(layers)
        self.norm = norm if norm is not None else nn.Identity()
        self.window, self.wide = window, frozenset(wide)  # `wide`: the layers that have no window

    def forward(
        self,
        inputs: Tensor,
        *,
        keep: Tensor | None = None,
        positions: Tensor | None = None,
        segments: Tensor | None = None,
        types: Tensor | None = None,
        causal: Tensor | None = None,
    ) -> Memory:
        """inputs: what the front end takes (tokens: B T). keep: B T, True = real. segments: B T for packed rows.

        causal: B, True = in this row a position sees only those before it, as in a decoder.
        """
        if positions is None and segments is not None:
            positions = position_ids(segments.shape, keep, segments=segments, device=segments.device)
        extra = {} if types is None else {"types": types}
        x, keep, positions = self.front(inputs, keep, positions, **extra)
        mask = masks.both(
            None if keep is None else masks.padding(keep),
            None if segments is None else masks.packed(segments, segments),
            None if causal is None else masks.causal_rows(causal, x.size(1)),
        )
        everywhere = near = AttentionContext(positions, positions, mask=mask)
        if self.window is not None:
            band = masks.window(positions, positions, left=self.window, right=self.window)
            near = AttentionContext(positions, positions, mask=masks.both(mask, band))
        for index, layer in enumerate(self.layers):
            x = layer(x, everywhere if index in self.wide else near)
        x = self.norm(x)
        note(self, "output", x)
        return Memory(x, keep, segments)


class Decoder(nn.Module):
    """A front end and layers in which a position sees only those before it, and an encoder's memory if there is one."""

    def __init__(
        self,
        front: nn.Module,
        layers: Sequence[nn.Module],
        norm: nn.Module | None = None,
        window: int | None = None,
        wide: Collection[int] = (),
    ) -> None:
        super().__init__()
        self.front = front
        self.layers = nn.ModuleList(layers)
        self.norm = norm if norm is not None else nn.Identity()
        self.window = window  # how many positions back a query may look; None = all
        self.wide = frozenset(wide)  # the layers that have no window

    def forward(
        self,
        tokens: Tensor,
        memory: Memory | None = None,
        *,
        keep: Tensor | None = None,
        positions: Tensor | None = None,
        segments: Tensor | None = None,
        cache: DecoderCache | None = None,
        segment_memory: SegmentMemory | None = None,
    ) -> Tensor:
        """tokens: B T. With a cache or a segment memory only the new tokens are given. Returns states B T D."""
        if segments is not None and (cache is not None or segment_memory is not None):
            raise ValueError("packed rows are for training: give segments, or a cache, not both")
        past = cache if cache is not None else segment_memory
        start = 0 if past is None else past.next_position()
        if positions is None:
            positions = position_ids(tokens.shape, keep, start, segments=segments, device=tokens.device)
        x, keep, positions = self.front(tokens, keep, positions)
        keys, key_keep = (positions, keep) if past is None else past.place(positions, keep)
        fresh = keys if cache is None else positions  # a cache holds the other keys projected already
        near = everywhere = self.look_back(positions, keys, fresh, key_keep, segments, window=self.window)
        if self.wide:
            everywhere = self.look_back(positions, keys, fresh, key_keep, segments)
        memory_context = None if memory is None else look_across(positions, memory, segments)
        for index, layer in enumerate(self.layers):
            caches = None if cache is None else (cache.self_attn[index], cache.cross_attn[index])
            states = None if segment_memory is None else segment_memory.exchange(index, x)
            context = everywhere if index in self.wide else near
            x = layer(x, context, memory=memory, memory_context=memory_context, caches=caches, past=states)
        x = self.norm(x)
        note(self, "output", x)
        output: Tensor = x
        return output

    def start_cache(self, room: int = 64) -> DecoderCache:
        """An empty cache for `forward`."""
        return DecoderCache(len(self.layers), room=room)

    @staticmethod
    def look_back(
        positions: Tensor,
        keys: Tensor,
        fresh: Tensor,
        keep: Tensor | None,
        segments: Tensor | None,
        *,
        window: int | None = None,
    ) -> AttentionContext:
        """Each query sees the keys up to its own slot that are real, within the window and in its own segment."""
        new, total = positions.size(1), keys.size(1)
        mask = masks.both(
            masks.causal(new, total, device=keys.device) if new > 1 else None,  # a single query is the last one
            None if window is None else masks.window(positions, keys, left=window),
            None if keep is None else masks.padding(keep),
            None if segments is None else masks.packed(segments, segments),
        )
        return AttentionContext(positions, keys, fresh=fresh, mask=mask)


class QueryDecoder(nn.Module):
    """Learned queries and layers in which each sees all the others and the encoder's memory: a set, not a sequence."""

    def __init__(self, front: QueryFrontend, layers: Sequence[DecoderLayer], norm: nn.Module | None = None) -> None:
        super().__init__()
        self.front = front
        self.layers = nn.ModuleList(layers)
        self.norm = norm if norm is not None else nn.Identity()

    def forward(self, memory: Memory) -> Tensor:
        """Returns one state per query: B Q D."""
        x, _, positions = self.front(memory.states.size(0))
        context, across = AttentionContext(positions, positions), look_across(positions, memory, None)
        for layer in self.layers:
            x = layer(x, context, memory=memory, memory_context=across)
        output: Tensor = self.norm(x)
        note(self, "output", output)
        return output


def look_across(positions: Tensor, memory: Memory, segments: Tensor | None) -> AttentionContext:
    """Each query sees the memory's real slots in its own segment."""
    if segments is not None and memory.segments is None:
        raise ValueError("the target is packed but the source is not; give the encoder its segments too")
    if segments is None and memory.segments is not None:
        raise ValueError("the source is packed but the target is not; give the decoder its segments too")
    mask = masks.both(
        None if memory.keep is None else masks.padding(memory.keep),
        None if segments is None or memory.segments is None else masks.packed(segments, memory.segments),
    )
    keys = torch.arange(memory.states.size(1), device=positions.device)[None]
    return AttentionContext(positions, keys, mask=mask)


class EncoderDecoder(nn.Module):
    """Read a source, write a target: translation, summarisation, transcription.

    The two stacks may be a Transformer's, or the recurrent or convolutional baseline's: the interface is the same.
    `places` are position ids and segments, for the stacks that take them.
    """

    def __init__(self, encoder: nn.Module, decoder: nn.Module, head: nn.Module) -> None:
        super().__init__()
        self.encoder, self.decoder, self.head = encoder, decoder, head

    @property
    def copies(self) -> bool:
        """Whether a token may be copied from the source instead of being chosen from the vocabulary."""
        return isinstance(self.head, CopyingHead)

    def encode(self, source: Tensor, *, keep: Tensor | None = None, **places: Tensor | None) -> Memory:
        """source: B S; returns the memory that `decode` attends to."""
        memory: Memory = self.encoder(source, keep=keep, **places)
        return memory._replace(tokens=source) if self.copies else memory

    def decode(
        self,
        target: Tensor,
        memory: Memory,
        *,
        keep: Tensor | None = None,
        cache: Cache | None = None,
        **places: Tensor | None,
    ) -> Tensor:
        """target: B T, the tokens so far; returns logits of the next token at each position: B T V."""
        states = self.decoder(target, memory, keep=keep, cache=cache, **places)
        return _logits(self, states, memory if self.copies else None)

    def states(
        self, source: Tensor, target: Tensor, *, source_keep: Tensor | None = None, target_keep: Tensor | None = None
    ) -> Tensor:
        """The head's input, B T D: a loss that skips padding need not compute its logits."""
        states: Tensor = self.decoder(target, self.encode(source, keep=source_keep), keep=target_keep)
        return states

    def forward(
        self, source: Tensor, target: Tensor, *, source_keep: Tensor | None = None, target_keep: Tensor | None = None
    ) -> Tensor:
        """source: B S, target: B T; returns logits B T V."""
        return self.decode(target, self.encode(source, keep=source_keep), keep=target_keep)

    def start_cache(self, room: int = 64) -> Cache:
        """An empty cache for `decode`."""
        cache: Cache = self.decoder.start_cache(room)  # type: ignore[operator]
        return cache


class DecoderOnly(nn.Module):
    """Continue a text: a language model."""

    def __init__(self, decoder: Decoder, head: nn.Module) -> None:
        super().__init__()
        self.decoder, self.head = decoder, head

    def forward(
        self,
        tokens: Tensor,
        *,
        keep: Tensor | None = None,
        positions: Tensor | None = None,
        segments: Tensor | None = None,
        cache: DecoderCache | None = None,
        segment_memory: SegmentMemory | None = None,
    ) -> Tensor:
        """tokens: B T; returns logits B T V, or the head's output."""
        states = self.decoder(
            tokens, keep=keep, positions=positions, segments=segments, cache=cache, segment_memory=segment_memory
        )
        return _logits(self, states, tokens if getattr(self.head, "reads_tokens", False) else keep)

    def start_cache(self, room: int = 64) -> DecoderCache:
        """An empty cache for `forward`."""
        return DecoderCache(len(self.decoder.layers), room=room)

    def start_segment_memory(self, length: int) -> SegmentMemory:
        """An empty memory of earlier segments, `length` tokens long (Transformer-XL)."""
        return SegmentMemory(len(self.decoder.layers), length=length)


class EncoderOnly(nn.Module):
    """Understand an input: class, tags, answer span, masked words, boxes, masks."""

    def __init__(self, encoder: nn.Module, head: nn.Module) -> None:
        super().__init__()
        self.encoder, self.head = encoder, head

    def encode(
        self,
        inputs: Tensor,
        *,
        keep: Tensor | None = None,
        positions: Tensor | None = None,
        segments: Tensor | None = None,
        types: Tensor | None = None,
        causal: Tensor | None = None,
    ) -> Memory:
        """The states without the head."""
        memory: Memory = self.encoder(
            inputs, keep=keep, positions=positions, segments=segments, types=types, causal=causal
        )
        return memory

    def forward(
        self,
        inputs: Tensor,
        *,
        keep: Tensor | None = None,
        positions: Tensor | None = None,
        segments: Tensor | None = None,
        types: Tensor | None = None,
        causal: Tensor | None = None,
    ) -> Tensor:
        """inputs: what the front end takes; returns the head's output."""
        memory = self.encode(inputs, keep=keep, positions=positions, segments=segments, types=types, causal=causal)
        return _logits(self, memory.states, memory.keep)


class EncoderQueryDecoder(nn.Module):
    """Read an input and answer a fixed number of learned queries about it, all at once (DETR; Carion et al., 2020)."""

    def __init__(self, encoder: Encoder, decoder: QueryDecoder, head: nn.Module) -> None:
        super().__init__()
        self.encoder, self.decoder, self.head = encoder, decoder, head

    def encode(self, inputs: Tensor, *, keep: Tensor | None = None) -> Memory:
        """The memory that the queries attend to."""
        memory: Memory = self.encoder(inputs, keep=keep)
        return memory

    def forward(self, inputs: Tensor, *, keep: Tensor | None = None) -> Tensor:
        """inputs: what the front end takes; keep: B S, True = real. Returns the head's output."""
        return _logits(self, self.decoder(self.encode(inputs, keep=keep)))


def _logits(model: nn.Module, states: Tensor, beside: Tensor | Memory | None = None) -> Tensor:
    """beside: which states are real, or, for a head that copies, what it copies from."""
    logits: Tensor = model.head(states, beside)  # type: ignore[operator]
    note(model, "logits", logits)
    return logits
