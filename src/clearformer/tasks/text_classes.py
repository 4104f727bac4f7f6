"""Classes of texts, or of pairs of texts: an encoder with a class head, judged by accuracy."""

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from clearformer.data.class_split import hold_out_by_class
from clearformer.data.collate import LabelledBatch, collate_labelled
from clearformer.data.file_facts import scan
from clearformer.data.readers.labelled import LabelledText, find_columns, read_labelled
from clearformer.data.readers.pictures import label_order
from clearformer.data.shards import Column, ShardWriter, shards_for, token_type_for
from clearformer.data.token_pairs import TokenIds
from clearformer.evaluation.accuracy import score_classes
from clearformer.folder.description import ModelFolder
from clearformer.folder.preprocessing import Preprocessing
from clearformer.inference.text_readers import Classifier
from clearformer.tasks.automatic import labelled_tables
from clearformer.tasks.data_files import DataFiles, file_names, folder_of
from clearformer.tasks.learned_vocabulary import vocabularies
from clearformer.tasks.task import Judging, Prepared, Scores, Seed, Task, Training, Workspace
from clearformer.tasks.verbs import VERBS
from clearformer.text.lines import read_lines
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.train_tokenizer import TokenizerConfig
from clearformer.training.loss import Loss

log = logging.getLogger(__name__)
Example = tuple[TokenIds, Any]


@dataclass(frozen=True, kw_only=True)
class LabelledData(DataFiles):
    """A table (CSV, TSV, JSON lines) with a text and a label in each row; columns that are not named are found."""

    train: str = file_names("a table of texts with labels")  # a table to learn from
    dev: str = file_names()  # a table to choose the best checkpoint by; empty: some of train
    test: str = file_names()  # a table for the end
    text: str | None = None  # the name of the text's column, or its number from 1 where there are no headings
    label: str | None = None  # the name of the label's column
    names: str = file_names()  # a list of class names, one on each line, where the labels are their numbers from 0
    second: str | None = None  # the name of a second text's column, where the class belongs to a pair
    hold_out: float = 0.1  # share of each class, where there is no dev
    vocabulary: TokenizerConfig = field(default_factory=lambda: TokenizerConfig(kind="wordpiece"))
    max_length: int = 256  # tokens; of a longer text the beginning is read, and how many are is said
    word_dropout: float = 0.0  # chance that a token is hidden in training


@dataclass(frozen=True, kw_only=True)
class LabelObjective:
    """Cross-entropy of the class."""

    smoothing: float = 0.0  # label smoothing: the share of the probability that is spread over all classes
    balance: float = 0.0  # 0 counts every example alike, 1 every class alike, so that rare classes count more


@dataclass(frozen=True, kw_only=True)
class HeldTexts:
    """Texts, or pairs of texts, with their classes."""

    texts: list[str | tuple[str, str]]
    labels: list[str]


def prepare(data: LabelledData, workspace: Workspace) -> Prepared[Example]:
    """Read the tables, hold some out, learn a vocabulary, and keep the tokens."""
    folder = folder_of(data, workspace.base)
    names = list(read_lines(folder / data.names)) if data.names else None
    train = _read(folder / data.train, data, names)
    dev = _read(folder / data.dev, data, names) if data.dev else []
    if not dev:
        held = hold_out_by_class([_key(row) for row in train], [row.label for row in train], share=data.hold_out)
        dev = [row for row, out in zip(train, held, strict=True) if out]
        train = [row for row, out in zip(train, held, strict=True) if not out]
    labels = label_order([row.label for row in train]) if names is None else tuple(names)
    if unknown := sorted({row.label for row in dev} - set(labels)):
        raise ValueError(f"{folder / data.dev}: the label {unknown[0]!r} does not occur in training")
    log.info(
        "%s", ", ".join(f"{label}: {count:,}" for label, count in Counter(row.label for row in train).most_common())
    )
    start = None if workspace.start is None else workspace.start.preprocessing
    texts = [text for row in train for text in (row.text, row.second) if text is not None]
    [tokenizer] = vocabularies(data.vocabulary, {"joint": texts}, workspace, () if start is None else start.sides[:1])
    names = (data.train, data.dev) if data.dev else (data.train,)
    made_from = {
        "files": [vars(scan(folder / name)) for name in names],
        "tokenizer": tokenizer.fingerprint(),
        "hold_out": data.hold_out,
        "max_length": data.max_length,
        "labels": list(labels),
    }
    columns = {"tokens": token_type_for(tokenizer.vocab_size), "label": "<u4"}

    def fill(writer: ShardWriter) -> dict[str, Any]:
        rows = encode(tokenizer, [_given(row) for row in train], data.max_length)
        values = np.fromiter((number for row in rows for number in row), dtype=np.int64)
        numbers = np.array([labels.index(row.label) for row in train])
        writer.add(
            tokens=Column(values, np.array([len(row) for row in rows])), label=Column(numbers, np.ones(len(rows), int))
        )
        return {"kept": len(rows)}

    made = workspace.folder / "shards"
    shards = shards_for(made, columns=columns, made_from=made_from, fill=fill, same=workspace.resume)
    read = encode(tokenizer, [_given(row) for row in dev], data.max_length)
    return Prepared(
        train=shards,  # type: ignore[arg-type]  # two columns
        lengths=[shards.lengths("tokens")],
        dev=[(np.array(ids), np.array([labels.index(row.label)])) for ids, row in zip(read, dev, strict=True)],
        held=HeldTexts(texts=[_given(row) for row in dev], labels=[row.label for row in dev]),
        preprocessing=Preprocessing(tokenizer=tokenizer, labels=labels),
    )


def _read(path: Path, data: LabelledData, names: Sequence[str] | None) -> list[LabelledText]:
    columns = find_columns(path, text=data.text, label=data.label, second=data.second)
    return named(path, list(read_labelled(path, columns)), names)


def named(path: Path, rows: list[LabelledText], names: Sequence[str] | None) -> list[LabelledText]:
    """The rows with the names of their classes in place of numbers, where there are names."""
    if names is None:
        return rows
    known = {str(number): name for number, name in enumerate(names)}
    if wrong := next((row for row in rows if row.label not in known), None):
        raise ValueError(
            f"{path}, line {wrong.line}: the label {wrong.label!r} is no number of one of {len(known)} class names"
        )
    return [row._replace(label=known[row.label]) for row in rows]


def _key(row: LabelledText) -> tuple[str, ...]:
    return tuple(" ".join(text.casefold().split()) for text in (row.text, row.second or ""))


def _given(row: LabelledText) -> str | tuple[str, str]:
    return row.text if row.second is None else (row.text, row.second)


def encode(tokenizer: Tokenizer, texts: Sequence[str | tuple[str, str]], longest: int) -> list[list[int]]:
    """The ids of each text, with markers; a longer one is read from its beginning, and how many are is said."""
    plain = [text for text in texts if isinstance(text, str)]
    single = iter(tokenizer.ids(plain))
    rows = [next(single) if isinstance(text, str) else list(tokenizer.encode_pair(*text).ids) for text in texts]
    if long := sum(len(row) > longest for row in rows):
        log.warning("%d of %d texts have more than %d tokens; their beginning is read", long, len(rows), longest)
    return [row if len(row) <= longest else [*row[: longest - 1], row[-1]] for row in rows]


def sizes(preprocessing: Preprocessing) -> dict[str, Any]:
    """What vocabulary and classes decide of the model."""
    head = {"kind": "class", "labels": len(preprocessing.labels)}
    return {"vocab_size": preprocessing.sides[0].vocab_size, "head": head}


def collate(data: LabelledData, preprocessing: Preprocessing) -> Callable[[Sequence[Example], Seed], LabelledBatch]:
    """Rows of ids as a batch; in training, some tokens are hidden as the seed says."""
    tokenizer = preprocessing.sides[0]
    special = set(tokenizer.special_ids.values())
    hidden = tokenizer.special_ids.get("mask", tokenizer.special_ids.get("unk", tokenizer.pad_id))

    def hide(ids: TokenIds, random: np.random.Generator) -> TokenIds:
        chosen = (random.random(len(ids)) < data.word_dropout) & ~np.isin(ids, list(special))
        return np.where(chosen, hidden, ids)

    def collate_rows(rows: Sequence[Example], seed: Seed) -> LabelledBatch:
        random = np.random.default_rng(seed) if seed and data.word_dropout else None
        texts = [ids if random is None else hide(ids, random) for ids, _ in rows]
        labels = [int(label[0]) for _, label in rows]
        return collate_labelled(list(zip(texts, labels, strict=True)), pad=tokenizer.special_ids.get("pad", 0))

    return collate_rows


def loss(model: nn.Module, batch: LabelledBatch, objective: LabelObjective) -> Loss:
    """Cross-entropy of the class, and how often it was right."""
    logits = model(batch.ids, keep=batch.keep)
    log_probs = logits.float().log_softmax(-1)
    nll = -log_probs.gather(-1, batch.labels[:, None])[:, 0]
    each = (1 - objective.smoothing) * nll - objective.smoothing * log_probs.mean(dim=-1)
    if objective.balance:
        counts = torch.bincount(batch.labels, minlength=logits.size(-1)).clamp(min=1).float()
        weights = counts[batch.labels] ** -objective.balance
        each = each * weights / weights.mean()
    right = (logits.detach().argmax(dim=-1) == batch.labels).sum()
    return Loss(each.sum(), len(batch.labels), {"nll": nll.detach().sum(), "accuracy": right})


def score(classifier: Classifier, held: HeldTexts, judging: Judging) -> Scores:
    """Accuracy, with an interval if asked thoroughly."""
    count = len(held.texts) if judging.thorough else judging.scoring.examples
    mine = judging.ranks.share_out(held.texts[:count])
    found = judging.ranks.collect([one.label for one in classifier.classify(mine, judging.options)])
    scores = score_classes(found, held.labels[:count])
    return scores if judging.thorough else {"accuracy": scores["accuracy"]}


def held_out(files: Sequence[Path], folder: ModelFolder) -> HeldTexts:
    """A test set: a table whose columns are named as in training, or found."""
    told = folder.provenance.get("columns", {})
    rows = list(read_labelled(files[0], find_columns(files[0], **(told if isinstance(told, dict) else {}))))
    if folder.provenance.get("numbered"):
        rows = named(files[0], rows, folder.preprocessing.labels)
    return HeldTexts(texts=[_given(row) for row in rows], labels=[row.label for row in rows])


def facts(recipe: Any) -> dict[str, Any]:
    """What a folder remembers of its recipe."""
    named = {name: getattr(recipe.data, name) for name in ("text", "label", "second")}
    return {
        "data": recipe.data.corpus or Path(recipe.data.train).name,
        "columns": {name: value for name, value in named.items() if value is not None},
        "numbered": True if recipe.data.names else None,
        "max_length": recipe.data.max_length,
    }


TASK = Task(
    name="text-classification",
    verb=VERBS["classify"],
    use=Classifier,
    training=Training(
        data=LabelledData,
        objective=LabelObjective,
        unit="texts",
        prepare=prepare,
        sizes=sizes,
        collate=collate,
        loss=loss,
        score=score,
        held_out=held_out,
        test_files=lambda data: (data.test,),
        best="accuracy",
        facts=facts,
    ),
    automatic=labelled_tables.AUTOMATIC,
)
