"""Rows of token ids become one padded batch of tensors.

B rows, S source length, T target length (special tokens included). In every `keep` tensor True means a real token.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clearformer.data.token_pairs import TokenIds

UNTAGGED = -100  # a piece that carries no tag; cross-entropy in torch passes over this number by itself


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Tensors whose first dimension is the rows of a batch: what the training loop knows of any task's batches."""

    def _tensors(self) -> dict[str, Tensor]:
        found = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: value for name, value in found if isinstance(value, Tensor)}

    def __len__(self) -> int:
        """How many rows there are."""
        return len(next(iter(self._tensors().values())))

    def to(self, device: torch.device | str) -> Self:
        """The same batch on another device; from pinned memory the copy overlaps with computing."""
        return replace(self, **{name: t.to(device, non_blocking=True) for name, t in self._tensors().items()})

    def take(self, rows: Tensor | slice) -> Self:
        """Some of the rows."""
        return replace(self, **{name: tensor[rows] for name, tensor in self._tensors().items()})

    def split(self, count: int) -> list[Self]:
        """Share the rows out to so many parts, as evenly as can be; fewer where there are few rows."""
        shares = torch.arange(len(self)).tensor_split(count)
        return [self.take(rows) for rows in shares if len(rows)]


@dataclass(frozen=True, kw_only=True)
class PairBatch(Batch):
    """Sentence pairs, ready for teacher forcing.

    Position t of `target_in` sees the target up to there, position t of `target_out` is what should come next, and
    `target_keep` belongs to both.
    """

    source: Tensor  # B S: x eos
    source_keep: Tensor  # B S
    target_in: Tensor  # B T: bos y
    target_out: Tensor  # B T: y eos
    target_keep: Tensor  # B T

    def split(self, count: int) -> list[PairBatch]:
        """Share the rows out, those of like length together, so that a part is no wider than its own rows need, and to
        each about as many tokens. Fewer parts than asked for where there are few rows.
        """
        lengths = self.target_keep.sum(dim=1)
        order = lengths.argsort(descending=True, stable=True)
        own = (lengths + self.source_keep.sum(dim=1))[order]
        before = own.cumsum(dim=0) - own
        part = before * count // own.sum()  # each row goes where its first token falls
        return [self._narrow(order[part == number]) for number in range(count) if (part == number).any()]

    def _narrow(self, rows: Tensor) -> PairBatch:
        source_keep, target_keep = self.source_keep[rows], self.target_keep[rows]
        wide, high = int(source_keep.sum(dim=1).max()), int(target_keep.sum(dim=1).max())  # padding stands on the right
        return PairBatch(
            source=self.source[rows, :wide],
            source_keep=source_keep[:, :wide],
            target_in=self.target_in[rows, :high],
            target_out=self.target_out[rows, :high],
            target_keep=target_keep[:, :high],
        )


@dataclass(frozen=True, kw_only=True)
class BlockBatch(Batch):
    """Running text for a language model: `targets` is `inputs` one token later."""

    inputs: Tensor  # B T
    targets: Tensor  # B T
    keep: Tensor  # B T: what is to be predicted
    segments: Tensor | None = None  # B T: the document that each input is of, where a row has several
    past: Tensor | None = None  # B N P D: what each row left behind in the batch before, where rows go on
    memory: int = 0  # how many tokens a row leaves behind for the next batch

    def after(self, left: Tensor) -> BlockBatch:
        """The same batch, whose rows go on where others stopped."""
        return replace(self, past=left)


@dataclass(frozen=True, kw_only=True)
class AnswerBatch(Batch):
    """Conversations: `targets` is `inputs` one token later, and only some of them are to be learned."""

    inputs: Tensor  # B T
    targets: Tensor  # B T
    learned: Tensor  # B T: the targets that are part of an answer


@dataclass(frozen=True, kw_only=True)
class LabelledBatch(Batch):
    """Texts with one class each. The ids stand as the tokenizer made them (with [CLS] and [SEP] if it adds them)."""

    ids: Tensor  # B T
    keep: Tensor  # B T
    labels: Tensor  # B
    types: Tensor | None = None  # B T: what each token of a pair is told
    soft: Tensor | None = None  # B C: what a teacher says of each class
    given: Tensor | None = None  # B: whether people gave the label; elsewhere the teacher did


@dataclass(frozen=True, kw_only=True)
class TaggedBatch(Batch):
    """Sentences with a tag at the first piece of each word, and UNTAGGED at all other pieces, markers and padding."""

    ids: Tensor  # B T
    keep: Tensor  # B T
    tags: Tensor  # B T
    types: Tensor | None = None  # B T: what each word looks like, where the model is told
    soft: Tensor | None = None  # B T C: what a teacher says of each tag at the first piece of each word
    given: Tensor | None = None  # B: whether people gave the tags; elsewhere the teacher did


@dataclass(frozen=True, kw_only=True)
class SpanBatch(Batch):
    """Questions beside their contexts, and the first and the last token of the answer; 0 and 0: no answer here."""

    ids: Tensor  # B T
    types: Tensor  # B T: BERT's segments
    keep: Tensor  # B T
    starts: Tensor  # B
    ends: Tensor  # B
    soft: Tensor | None = None  # B T 2: how probable a teacher finds each token as the first, and as the last
    given: Tensor | None = None  # B: whether people answered; elsewhere the teacher did


@dataclass(frozen=True, kw_only=True)
class PictureBatch(Batch):
    """Pictures with one class each, or two, where they are mixed."""

    pictures: Tensor  # B C H W
    labels: Tensor  # B
    others: Tensor | None = None  # B: the class that each picture is mixed with
    share: Tensor | None = None  # B: how much of it is of its own class


def collate_pairs(
    rows: Sequence[tuple[TokenIds, TokenIds]], *, pad: int, bos: int, eos: int, before: int | None = None
) -> PairBatch:
    """Pad sentence pairs that carry no special tokens, and add these: x eos, bos y, y eos. before: what a source begins
    with, if with anything."""
    source, source_keep = _pad([source for source, _ in rows], pad=pad, first=before, last=eos)
    target_in, target_keep = _pad([target for _, target in rows], pad=pad, first=bos)
    target_out, _ = _pad([target for _, target in rows], pad=pad, last=eos)
    return PairBatch(
        source=source,
        source_keep=source_keep,
        target_in=target_in,
        target_out=target_out,
        target_keep=target_keep,
    )


def cut_blocks(documents: Iterable[TokenIds], *, length: int, eos: int) -> Iterator[NDArray[np.int64]]:
    """Join documents with `eos` after each and cut the stream into blocks of `length` predictions.

    A block has length + 1 tokens, the last of which opens the next block, so that every token but the very first is
    predicted exactly once. The last block may be shorter.
    """
    if length < 1:
        raise ValueError(f"A block of {length} tokens predicts nothing: take a length of at least 1.")
    stream = np.empty(0, dtype=np.int64)
    for document in documents:
        stream = np.concatenate([stream, document, [eos]])
        full = (len(stream) - 1) // length
        for block in range(full):
            yield stream[block * length : (block + 1) * length + 1]
        stream = stream[full * length :].copy()  # a view would keep the whole document in memory
    if len(stream) > 1:
        yield stream


def collate_blocks(blocks: Sequence[TokenIds], *, pad: int) -> BlockBatch:
    """Stack blocks made by `cut_blocks`; a short one is padded."""
    inputs, keep = _pad([block[:-1] for block in blocks], pad=pad)
    targets, _ = _pad([block[1:] for block in blocks], pad=pad)
    return BlockBatch(inputs=inputs, targets=targets, keep=keep)


def keep_documents_apart(batch: BlockBatch, *, start: int, ends: bool) -> BlockBatch:
    """Number the documents of each row, so that no token sees another document, and ask for none's first token.

    start: what every document begins with, and no text contains. ends: whether it also says that the last one is over.
    """
    segments = (batch.inputs == start).cumsum(dim=1)
    keep = batch.keep if ends else batch.keep & (batch.targets != start)
    return replace(batch, segments=segments, keep=keep)


def collate_answers(rows: Sequence[tuple[NDArray[Any], ...]], *, pad: int) -> AnswerBatch:
    """Pad conversations. The second of each row says which of its tokens are of an answer."""
    inputs, _ = _pad([ids[:-1] for ids, _ in rows], pad=pad)
    targets, _ = _pad([ids[1:] for ids, _ in rows], pad=pad)
    learned, _ = _pad([chosen[1:] for _, chosen in rows], pad=0)
    return AnswerBatch(inputs=inputs, targets=targets, learned=learned.bool())


def collate_labelled(
    rows: Sequence[tuple[TokenIds, int]], *, pad: int, types: Sequence[TokenIds] | None = None
) -> LabelledBatch:
    """Pad texts and put their classes beside them. types: of the tokens, where the texts are pairs."""
    ids, keep = _pad([ids for ids, _ in rows], pad=pad)
    told = None if types is None else _pad(types, pad=0)[0]
    labels = torch.tensor([label for _, label in rows], dtype=torch.long)
    return LabelledBatch(ids=ids, keep=keep, labels=labels, types=told)


def collate_tagged(rows: Sequence[Sequence[TokenIds]], *, pad: int) -> TaggedBatch:
    """Pad sentences, the tags of their pieces, and, where there are some, the types of these."""
    ids, keep = _pad([row[0] for row in rows], pad=pad)
    tags, _ = _pad([row[1] for row in rows], pad=UNTAGGED)
    types = _pad([row[2] for row in rows], pad=0)[0] if len(rows[0]) > 2 else None
    return TaggedBatch(ids=ids, keep=keep, tags=tags, types=types)


def with_soft_tags(
    batch: TaggedBatch, soft: Sequence[NDArray[np.float32]], given: Sequence[NDArray[np.uint8]]
) -> TaggedBatch:
    """What a teacher says of the words of each row, end to end, put where their first pieces stand."""
    tagged = batch.tags != UNTAGGED
    rows = np.concatenate(soft).reshape(int(tagged.sum()), -1)
    placed = torch.zeros(*tagged.shape, rows.shape[1])
    placed[tagged] = torch.from_numpy(rows).float()
    return replace(batch, soft=placed, given=torch.from_numpy(np.concatenate(given)).bool())


def collate_spans(rows: Sequence[Sequence[NDArray[Any]]], *, pad: int) -> SpanBatch:
    """Pad questions with contexts, each given as ids, types, and the first and the last token of its answer; of a
    lesson, then the teacher's probabilities of both for each token, and whether people answered.
    """
    ids, keep = _pad([row[0] for row in rows], pad=pad)
    types, _ = _pad([row[1] for row in rows], pad=0)
    starts, ends = torch.tensor([[int(place) for place in row[2]] for row in rows], dtype=torch.long).unbind(1)
    batch = SpanBatch(ids=ids, types=types, keep=keep, starts=starts, ends=ends)
    if len(rows[0]) == 3:
        return batch
    soft = torch.zeros(*ids.shape, 2)
    for place, row in enumerate(rows):
        soft[place, : len(row[0])] = torch.from_numpy(np.array(row[3], dtype=np.float32)).view(-1, 2)
    return replace(batch, soft=soft, given=torch.tensor([bool(row[4][0]) for row in rows]))


def _pad(
    rows: Sequence[TokenIds], *, pad: int, first: int | None = None, last: int | None = None
) -> tuple[Tensor, Tensor]:
    """Rows of different lengths as one rectangle filled up on the right, and the mask of what is real."""
    if not rows:
        raise ValueError("A batch of no rows cannot be padded: the data plan never makes one, so look at the caller.")
    lead, trail = int(first is not None), int(last is not None)
    lengths = np.array([len(row) for row in rows]) + lead + trail
    if lengths.min() < 1:
        raise ValueError(f"Row {int(lengths.argmin())} of the batch is empty: leave such texts out before batching.")
    positions = np.arange(lengths.max())
    keep = positions < lengths[:, None]
    ids = np.full(keep.shape, pad, dtype=np.int64)
    inner = (positions >= lead) & (positions < lengths[:, None] - trail)
    ids[inner] = np.concatenate(rows)  # row by row, which is the order in which a mask is filled
    if first is not None:
        ids[:, 0] = first
    if last is not None:
        ids[np.arange(len(rows)), lengths - 1] = last
    return torch.from_numpy(ids), torch.from_numpy(keep)
