"""Language model: running text in, a decoder that continues it out, judged by nats per token on unseen text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from clearformer.data.collate import BlockBatch, collate_blocks, keep_documents_apart
from clearformer.data.file_facts import scan
from clearformer.data.readers.texts import is_table
from clearformer.data.row_plan import RowPlan
from clearformer.data.shards import Column, ShardWriter, shards_for, token_type_for
from clearformer.data.token_pairs import TokenIds
from clearformer.folder.preprocessing import Preprocessing
from clearformer.inference.text_generator import TextGenerator
from clearformer.model.frontends import adds_places
from clearformer.model.segment_memory import SegmentMemory
from clearformer.tasks.automatic import plain_text
from clearformer.tasks.data_files import folder_of, several
from clearformer.tasks.learned_vocabulary import as_preprocessing, vocabularies
from clearformer.tasks.running_data import (
    RunningText,
    Segments,
    Windows,
    blocks,
    documents,
    framed,
    marked,
    unmarked,
    whole_texts,
)
from clearformer.tasks.task import Prepared, Seed, Task, Training, Workspace
from clearformer.tasks.text_scores import TextScoring, held_out, score
from clearformer.tasks.verbs import VERBS
from clearformer.training.loss import Loss
from clearformer.training.projected_loss import projected_cross_entropy

PARTS = ("train", "dev")


@dataclass(frozen=True, kw_only=True)
class NextToken:
    """Cross-entropy of the next token."""

    smoothing: float = 0.0  # label smoothing: the share of the probability that is spread over all tokens


def prepare(data: RunningText, workspace: Workspace) -> Prepared[TokenIds]:
    """Read the text, learn a vocabulary, and keep the tokens of both parts as one long row each."""
    folder = folder_of(data, workspace.base)
    files = [folder / name for name in (*several(data.train), *((data.dev,) if data.dev else ()))]
    apart = bool(data.separator) or any(map(is_table, files))
    if apart and data.memory:
        raise ValueError("data.memory goes on through the whole text, and documents must not see one another; take 0")
    train, dev = documents(files, data) if apart else whole_texts(files, data)
    start = None if workspace.start is None else workspace.start.preprocessing
    given = () if start is None else start.sides[:1]
    # A space before each line would be learned, and written: running text begins in the middle of things.
    vocabulary = replace(data.vocabulary, prefix_space=False)
    lines = [line for text in train for line in text.splitlines(keepends=True)]
    [tokenizer] = vocabularies(vocabulary, {"joint": lines}, workspace, given)
    preprocessing = as_preprocessing([tokenizer], start)
    preprocessing = marked(preprocessing) if apart else unmarked(preprocessing)

    def fill(writer: ShardWriter) -> dict[str, Any]:
        for done, texts in enumerate((train, dev), start=1):
            ids = np.array([number for text in texts for number in framed(text, preprocessing)])
            writer.add(tokens=Column(ids, np.array([len(ids)])))
            workspace.on_progress(done, 2)
        return {"tokens": "all"}

    made_from = {
        "files": [vars(scan(path)) for path in files],
        "tokenizer": tokenizer.fingerprint(),
        "hold_out": None if data.dev else data.hold_out,
        **({"separator": data.separator} if apart else {}),
    }
    columns = {"tokens": token_type_for(tokenizer.vocab_size)}
    made = workspace.folder / "shards"
    shards = shards_for(made, columns=columns, made_from=made_from, fill=fill, same=workspace.resume)
    streams = [shards[place][0] for place in range(len(PARTS))]
    train_rows = (Segments if data.memory else Windows)(streams[0], data.context)
    return Prepared(
        train=train_rows,
        lengths=[np.full(len(train_rows), min(data.context, len(streams[0]) - 1))],
        dev=blocks(streams[1], data.context, data.memory),
        held=dev,
        preprocessing=preprocessing,
        order=partial(RowPlan, len(streams[0]), data.context) if data.memory else None,
    )


def sizes(preprocessing: Preprocessing) -> dict[str, Any]:
    """How many rows the model's table has."""
    return {"vocab_size": preprocessing.sides[0].vocab_size}


def collate(data: RunningText, preprocessing: Preprocessing) -> Callable[[Sequence[TokenIds], Seed], BlockBatch]:
    """In training, a context at a random offset of each window, some of it hidden; in validation, the block as it is.

    What is hidden is still asked for: a token is predicted whether or not the next ones will see it.
    """
    tokenizer, markers = preprocessing.sides[0], preprocessing.markers
    pad, hidden = tokenizer.pad_id, tokenizer.special_ids.get("unk") if data.word_dropout else None
    if data.word_dropout and hidden is None:
        raise ValueError("data.word_dropout hides tokens behind the unknown one, and this vocabulary has none; take 0")

    def collate_rows(rows: Sequence[TokenIds], seed: Seed) -> BlockBatch:
        if not seed:
            return _counted(apart(collate_blocks(rows, pad=pad)), data)
        random = np.random.default_rng(seed)
        draw = random.random(len(rows))
        cuts = [_cut(row, chance, data.context) for row, chance in zip(rows, draw, strict=True)]
        batch = replace(apart(collate_blocks(cuts, pad=pad)), memory=data.memory)
        if hidden is None:
            return batch
        chosen = torch.from_numpy(random.random(batch.inputs.shape) < data.word_dropout) & batch.keep
        return replace(batch, inputs=batch.inputs.masked_fill(chosen, hidden))

    def apart(batch: BlockBatch) -> BlockBatch:
        if markers is None or not markers.before_source:
            return batch
        return keep_documents_apart(batch, start=markers.before_source[0], ends=not markers.after_source)

    return collate_rows


def _cut(row: TokenIds, chance: float, context: int) -> NDArray[np.int64]:
    most = max(0, len(row) - context - 1)
    start = int(chance * (most + 1))
    return row[start : start + context + 1].astype(np.int64)


def _counted(batch: BlockBatch, data: RunningText) -> BlockBatch:
    """With a memory, only the last `context` predictions of each block count: those before belong to other blocks."""
    if not data.memory:
        return batch
    place = torch.arange(batch.keep.size(1))
    return replace(batch, keep=batch.keep & (place >= batch.keep.sum(dim=1, keepdim=True) - data.context))


def loss(model: nn.Module, batch: BlockBatch, objective: NextToken) -> Loss:
    """Cross-entropy of the next token. Right padding needs no mask: no token looks ahead."""
    past = _remembered(model, batch) if batch.memory else None
    states = model.decoder(batch.inputs, segments=batch.segments, segment_memory=past)[batch.keep]  # type: ignore[operator]
    features, table, bias = model.head.projection(states)  # type: ignore[union-attr, operator]
    found = projected_cross_entropy(features, table, bias, batch.targets[batch.keep], smoothing=objective.smoothing)
    return found if past is None else found._replace(left=past.states())


def _remembered(model: nn.Module, batch: BlockBatch) -> SegmentMemory:
    """What the rows left behind in the batch before; nothing at the beginning of an epoch."""
    front: nn.Module = model.decoder.front  # type: ignore[union-attr, assignment]
    if adds_places(front):
        raise ValueError("data.memory needs positions that are distances, such as relative or rotary; take 0")
    if batch.past is None:
        return SegmentMemory(len(model.decoder.layers), length=batch.memory)  # type: ignore[union-attr, arg-type]
    return SegmentMemory.holding(batch.past, length=batch.memory)


def facts(recipe: Any) -> dict[str, Any]:
    """What a folder remembers of its recipe."""
    apart = {"separator": recipe.data.separator} if recipe.data.separator else {}
    return {
        "data": recipe.data.corpus or ", ".join(Path(name).name for name in several(recipe.data.train)),
        "context": recipe.data.context,
        **({"memory": recipe.data.memory} if recipe.data.memory else {}),
        "decoding": {"temperature": recipe.use.temperature},
        **apart,
    }


TASK = Task(
    name="language-model",
    verb=VERBS["generate"],
    use=TextGenerator,
    training=Training(
        data=RunningText,
        objective=NextToken,
        scoring=TextScoring,
        prepare=prepare,
        sizes=sizes,
        collate=collate,
        loss=loss,
        score=score,
        held_out=held_out,
        test_files=lambda data: (data.test,),
        best="-loss",
        facts=facts,
    ),
    automatic=plain_text.AUTOMATIC,
)
