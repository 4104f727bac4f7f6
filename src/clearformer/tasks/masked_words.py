"""Masked language model: an encoder that says which words fit at [MASK], judged by nats per hidden word.

It learns from text alone, and is what classifiers and taggers of the same language begin with (`model.from`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor, nn

from clearformer.data.file_facts import scan
from clearformer.data.masking import MaskedBatch, Masking, hide
from clearformer.data.readers.texts import read_texts
from clearformer.data.shards import Column, ShardWriter, shards_for, token_type_for
from clearformer.data.text_rows import JoinedRows, RowFrame, SingleRows, cut
from clearformer.data.token_pairs import TokenIds
from clearformer.evaluation.word_likelihood import summarise_words
from clearformer.folder.description import ModelFolder
from clearformer.folder.preprocessing import Preprocessing
from clearformer.inference.hidden_words import PASSES, find_hidden, read_forward
from clearformer.inference.word_filler import WordFiller
from clearformer.tasks.automatic import masked_text
from clearformer.tasks.data_files import several
from clearformer.tasks.gathered_texts import UnlabelledText, gather
from clearformer.tasks.learned_vocabulary import vocabularies
from clearformer.tasks.task import Judging, Prepared, Scores, Scoring, Seed, Task, Training, Workspace
from clearformer.tasks.verbs import VERBS
from clearformer.text.assemble import with_mask
from clearformer.training.loss import Loss
from clearformer.training.projected_loss import projected_cross_entropy

MOST_DEV = 500  # development rows whose loss is looked at: evenly spaced ones, where there are more


@dataclass(frozen=True, kw_only=True)
class HiddenTokens:
    """Cross-entropy of tokens that are hidden, and of the next token in rows that are read from left to right."""

    rate: float = 0.15  # share of the tokens, or words, that are asked for
    masked: float = 0.8  # of those, the share that is shown as [MASK]
    swapped: float = 0.1  # of those, the share that is shown as another token; the rest is shown as it is
    whole_words: bool = False  # hide all pieces of a word or none
    causal: float = 0.0  # share of the rows that are read from left to right, each token asked for by those before it
    smoothing: float = 0.0  # label smoothing: the share of the probability that is spread over all tokens

    def __post_init__(self) -> None:
        for name, low in (("rate", 1e-6), ("masked", 0.0), ("swapped", 0.0), ("causal", 0.0)):
            if not low <= getattr(self, name) <= 1:
                raise ValueError(f"objective.{name} is a share, between 0 and 1, not {getattr(self, name)}")
        if self.masked + self.swapped > 1:
            raise ValueError(f"objective.masked and swapped are {self.masked} and {self.swapped}: together at most 1")


@dataclass(frozen=True, kw_only=True)
class QuickLook(Scoring):
    """How a model is scored."""

    examples: int = 200  # rows in which words are hidden at a validation during training


def prepare(data: UnlabelledText, workspace: Workspace) -> Prepared[TokenIds]:
    """Read the texts, learn a vocabulary with a token for hidden words, and keep the tokens."""
    found = gather(data, workspace.base)
    given = () if workspace.start is None else workspace.start.preprocessing.sides[:1]
    if given and "mask" not in given[0].special_ids:
        raise ValueError("the vocabulary of model.from has no token for hidden words; begin with another model")
    [learned] = vocabularies(data.vocabulary, {"joint": found.train}, workspace, given)
    tokenizer = learned if given else with_mask(learned)

    frame = RowFrame.of(tokenizer, length=data.max_length, joined=data.join)

    def fill(writer: ShardWriter) -> dict[str, Any]:
        rows = frame.texts(tokenizer.ids(found.train, add_special=False))
        writer.add(tokens=Column(np.concatenate(rows), np.array([len(row) for row in rows])))
        return {"kept": len(rows)}

    made_from = {
        "files": [vars(scan(path)) for path in found.files],
        "tokenizer": tokenizer.fingerprint(),
        "hold_out": None if any(several(data.dev)) else data.hold_out,
        "rows": [data.join, data.max_length],
        "columns": [several(data.text), several(data.label)],
    }
    columns = {"tokens": token_type_for(tokenizer.vocab_size)}
    made = workspace.folder / "shards"
    shards = shards_for(made, columns=columns, made_from=made_from, fill=fill, same=workspace.resume)
    train = JoinedRows(shards[0][0], frame.room) if data.join else SingleRows(shards)
    own = np.full(len(train), min(frame.room, len(shards[0][0]))) if data.join else shards.lengths("tokens")
    dev = frame.rows(tokenizer.ids(found.dev, add_special=False))
    return Prepared(
        train=train,
        lengths=[own + frame.length - frame.room],
        dev=_some(dev, MOST_DEV),
        held=found.dev,
        preprocessing=Preprocessing(tokenizer=tokenizer),
    )


def _some(rows: Sequence[TokenIds], most: int) -> list[TokenIds]:
    """Evenly spaced ones, where there are more."""
    return [rows[place] for place in np.linspace(0, len(rows) - 1, min(len(rows), most)).astype(int)]


def sizes(preprocessing: Preprocessing) -> dict[str, Any]:
    """How many rows the model's table has, and that its head scores tokens."""
    return {"vocab_size": preprocessing.sides[0].vocab_size, "head": {"kind": "language-model"}}


def collate(data: UnlabelledText, preprocessing: Preprocessing) -> Callable[[Sequence[TokenIds], Seed], MaskedBatch]:
    """Rows with their markers and with lots for every token; joined text is cut at a random offset in training."""
    tokenizer = preprocessing.sides[0]
    frame, masking = RowFrame.of(tokenizer, length=data.max_length, joined=data.join), Masking(tokenizer)

    def collate_rows(rows: Sequence[TokenIds], seed: Seed) -> MaskedBatch:
        if seed and data.join:
            chances = np.random.default_rng((*seed, 1)).random(len(rows))  # another stream than that of the lots
            rows = [cut(row, chance, frame.room) for row, chance in zip(rows, chances, strict=True)]
        return masking.draw([frame.marked(row) for row in rows], seed)

    return collate_rows


def loss(model: nn.Module, batch: MaskedBatch, objective: HiddenTokens) -> Loss:
    """Cross-entropy at the places that are asked for, whose states alone meet the vocabulary.

    Rows that are read from left to right ask for every token. So that they count as much as the others, each of their
    tokens counts `rate`.
    """
    shown, chosen = hide(
        batch,
        rate=objective.rate,
        masked=objective.masked,
        swapped=objective.swapped,
        whole_words=objective.whole_words,
    )
    causal = batch.directions < objective.causal
    if not causal.any():
        states = model.encode(shown, keep=batch.keep).states  # type: ignore[operator]
        return _asked(model, states[chosen], batch.ids[chosen], objective)
    rows = causal[:, None]
    inputs = batch.ids.where(rows, shown)
    states = model.encode(inputs, keep=batch.keep, causal=causal).states  # type: ignore[operator]
    chosen = chosen & ~rows
    here = _asked(model, states[chosen], batch.ids[chosen], objective)
    following = batch.keep[:, 1:] & rows
    after = _asked(model, states[:, :-1][following], batch.ids[:, 1:][following], objective)
    count = max(1, round(objective.rate * after.count))
    weight = count / after.count
    nll = here.metrics["nll"] + weight * after.metrics["nll"]
    return Loss(here.total + weight * after.total, here.count + count, {"nll": nll})


def _asked(model: nn.Module, states: Tensor, wanted: Tensor, objective: HiddenTokens) -> Loss:
    features, table, bias = model.head.projection(states)  # type: ignore[union-attr, operator]
    return projected_cross_entropy(features, table, bias, wanted, smoothing=objective.smoothing)


def score(filler: WordFiller, held: Sequence[str], judging: Judging) -> Scores:
    """Nats per hidden word and how many were found; thoroughly, of every word, with intervals."""
    told = filler.bundle.provenance
    frame = RowFrame.of(filler.tokenizer, length=filler.longest, joined=told.get("joined") is True)
    rows = [frame.marked(row) for row in frame.rows(filler.tokenizer.ids(held, add_special=False))]
    rows, passes = (rows, PASSES) if judging.thorough else (_some(rows, judging.scoring.examples), 1)
    found = find_hidden(filler, rows, batch=judging.options.batch, passes=passes, on_progress=judging.on_progress)
    scores = summarise_words(
        [row.nats for row in found], [row.right for row in found], pieces=sum(row.pieces for row in found)
    )
    if told.get("causal"):
        nats, count = read_forward(filler, rows, batch=judging.options.batch)
        scores["causal_nats"] = nats / max(1, count)
    if not judging.thorough:
        return {name: scores[name] for name in ("nats", "accuracy", "causal_nats") if name in scores}
    signature = f"rows of {frame.length} tokens, each word hidden once with all its pieces, 1 in {PASSES} at a time"
    return {**scores, "signature": f"{signature}; 95 % by bootstrap over rows"}


def held_out(files: Sequence[Path], folder: ModelFolder) -> list[str]:
    """The texts of some files."""
    return [row.text for path in files for row in read_texts(path)]


def facts(recipe: Any) -> dict[str, Any]:
    """What a folder remembers of its recipe."""
    causal = {"causal": recipe.objective.causal} if recipe.objective.causal else {}
    return {
        "data": recipe.data.corpus or ", ".join(Path(name).name for name in several(recipe.data.train)),
        "max_length": recipe.data.max_length,
        "joined": recipe.data.join,
        **causal,
    }


TASK = Task(
    name="masked-language-model",
    verb=VERBS["fill"],
    use=WordFiller,
    training=Training(
        data=UnlabelledText,
        objective=HiddenTokens,
        scoring=QuickLook,
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
    automatic=masked_text.AUTOMATIC,
)
