"""Classes of texts, or of pairs of texts: an encoder with a class head. Also several labels, or a number."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from clearformer.data.collate import LabelledBatch, collate_labelled
from clearformer.data.file_facts import scan
from clearformer.data.pair_types import OVERLAP_TYPES, pair_types
from clearformer.data.readers.labelled import LabelledText, find_columns, read_labelled
from clearformer.data.readers.soft_labels import read_soft_texts
from clearformer.data.readers.tables import read_rows
from clearformer.data.shards import Column, ShardWriter, shards_for, token_type_for
from clearformer.data.token_pairs import TokenIds
from clearformer.folder.description import ModelFolder
from clearformer.folder.preprocessing import Preprocessing
from clearformer.inference.reader_ensembles import classifier_of
from clearformer.inference.text_readers import Classifier
from clearformer.tasks.automatic import labelled_tables
from clearformer.tasks.data_files import folder_of
from clearformer.tasks.label_goals import Goals, refuse_unknown
from clearformer.tasks.label_lessons import add_lessons
from clearformer.tasks.label_objectives import LabelObjective, loss
from clearformer.tasks.label_scores import HeldTexts, report, score, settle
from clearformer.tasks.labelled_data import LabelledData, as_given, class_names, named, split
from clearformer.tasks.learned_vocabulary import vocabularies
from clearformer.tasks.task import Prepared, Seed, Task, Training, Workspace
from clearformer.tasks.verbs import VERBS
from clearformer.text.tokenizer import Tokenizer

log = logging.getLogger(__name__)
# Ids; the numbers of the labels, or the number itself; of a pair, the types of its tokens; of a lesson, what the
# teacher says, and whether people gave the label.
Example = tuple[Any, ...]


def prepare(data: LabelledData, workspace: Workspace) -> Prepared[Example]:
    """Read the tables, hold some out, learn a vocabulary, and keep the tokens."""
    folder = folder_of(data, workspace.base)
    labelled, dev = split(data, folder)
    goals = Goals.of(labelled, data.kind, class_names(data, folder))
    refuse_unknown(dev, goals.labels, data.kind, "does not occur in training")
    log.info("%s", goals.said())
    lessons = list(read_soft_texts(folder / data.lessons, data.kind, goals.labels)) if data.lessons else []
    if data.unlabelled and not lessons:
        log.info("data.unlabelled is left aside: only a teacher can label it, by `clearformer distill`")
    train = [LabelledText(one.text, one.second, one.label or "", 0) for one in lessons] or labelled
    start = None if workspace.start is None else workspace.start.preprocessing
    texts = [text for row in train for text in (row.text, row.second) if text is not None]
    [tokenizer] = vocabularies(data.vocabulary, {"joint": texts}, workspace, () if start is None else start.sides[:1])
    files = [name for name in (data.train, data.dev, data.lessons) if name]
    made_from = {
        "files": [vars(scan(folder / name)) for name in files],
        "tokenizer": tokenizer.fingerprint(),
        "hold_out": data.hold_out,
        "max_length": data.max_length,
        "labels": list(goals.labels),
        **({} if data.kind == "one" else {"kind": data.kind}),
        **({"overlap": True} if data.overlap else {}),
    }
    pairs = any(row.second is not None for row in train)
    columns = {"tokens": token_type_for(tokenizer.vocab_size), "label": "<f4" if data.kind == "number" else "<u4"}
    columns |= {"types": "|u1"} if pairs or lessons else {}
    columns |= {"soft": "<f4", "given": "|u1"} if lessons else {}

    def fill(writer: ShardWriter) -> dict[str, Any]:
        rows = encode(tokenizer, train, data)
        numbers = [goals.numbers_of(one) for one in lessons] or [goals.numbers(row) for row in labelled]
        more = {"types": _column([types if pairs else [] for _, types in rows], np.int64)}
        more |= {"soft": _column([goals.soft(one) for one in lessons], np.float64)}
        more |= {"given": _column([[one.label is not None] for one in lessons], np.int64)}
        told = {name: column for name, column in more.items() if name in columns}
        writer.add(tokens=_column([ids for ids, _ in rows], np.int64), label=_column(numbers, np.float64), **told)
        return {"kept": len(rows)}

    made = workspace.folder / "shards"
    shards = shards_for(made, columns=columns, made_from=made_from, fill=fill, same=workspace.resume)
    read = encode(tokenizer, dev, data)
    return Prepared(
        train=shards,
        lengths=[shards.lengths("tokens")],
        dev=[
            (np.array(ids), np.array(goals.numbers(row)), *([np.array(types)] if pairs else []))
            for (ids, types), row in zip(read, dev, strict=True)
        ],
        held=_held(dev),
        preprocessing=Preprocessing(
            tokenizer=tokenizer,
            labels=goals.labels,
            outcome=goals.outcome,
            types="overlap" if data.overlap and pairs else "texts",
        ),
        objective=goals.counted,
    )


def _column(rows: Sequence[Sequence[float]], number: Any) -> Column:
    values = np.fromiter((value for row in rows for value in row), dtype=number)
    return Column(values, np.array([len(row) for row in rows]))


def _held(rows: Sequence[LabelledText]) -> HeldTexts:
    return HeldTexts(
        texts=[as_given(row) for row in rows], labels=[row.label for row in rows], places=[row.place for row in rows]
    )


def encode(tokenizer: Tokenizer, rows: Sequence[LabelledText], data: LabelledData) -> list[tuple[list[int], list[int]]]:
    """The ids of each text or pair, with markers, and their types; a longer one is read from its beginning, and how
    many are is said.
    """
    single = iter(tokenizer.ids([row.text for row in rows if row.second is None]))
    markers = list(tokenizer.special_ids.values())
    made: list[tuple[list[int], list[int]]] = []
    for row in rows:
        if row.second is None:
            ids = next(single)
            made.append((ids, [0] * len(ids)))
        else:
            pair = tokenizer.encode_pair(row.text, row.second)
            made.append((list(pair.ids), pair_types(pair, overlap=data.overlap, markers=markers)))
    most = data.max_length
    if long := sum(len(ids) > most for ids, _ in made):
        log.warning("%d of %d texts have more than %d tokens; their beginning is read", long, len(rows), most)
    return [(_shortened(ids, most), _shortened(types, most)) for ids, types in made]


def _shortened(row: list[int], longest: int) -> list[int]:
    return row if len(row) <= longest else [*row[: longest - 1], row[-1]]


def sizes(preprocessing: Preprocessing) -> dict[str, Any]:
    """What vocabulary and classes decide of the model."""
    head = {"kind": "class", "labels": max(1, len(preprocessing.labels))}  # a number is one output
    told = {"embedding": {"types": OVERLAP_TYPES}} if preprocessing.types == "overlap" else {}
    return {"vocab_size": preprocessing.sides[0].vocab_size, "head": head, **told}


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
        labels = [row[1] for row in rows]
        texts = [row[0] if random is None else hide(row[0], random) for row in rows]
        firsts = [int(label[0]) if len(label) else 0 for label in labels]
        types = [row[2] for row in rows] if len(rows[0]) > 2 and len(rows[0][2]) else None
        pad = tokenizer.special_ids.get("pad", 0)
        batch = collate_labelled(list(zip(texts, firsts, strict=True)), pad=pad, types=types)
        if len(rows[0]) > 3:
            soft, given = (torch.from_numpy(np.stack([row[place] for row in rows])) for place in (3, 4))
            batch = replace(batch, soft=soft.float(), given=given[:, 0].bool())
        if preprocessing.outcome.kind == "one":
            return batch
        if preprocessing.outcome.kind == "number":
            return replace(batch, labels=torch.tensor([float(label[0]) for label in labels]))
        present = torch.zeros(len(rows), len(preprocessing.labels))
        for row, label in enumerate(labels):
            present[row, np.asarray(label, dtype=np.int64)] = 1.0
        return replace(batch, labels=present)

    return collate_rows


def held_out(files: Sequence[Path], folder: ModelFolder) -> HeldTexts:
    """A test set: a table whose columns are named as in training, or found. A label that the model lacks is refused."""
    told = folder.provenance.get("columns", {})
    outcome, labels = folder.preprocessing.outcome, folder.preprocessing.labels
    names = labels if folder.provenance.get("numbered") else None
    rows = []
    for path in files:
        columns = find_columns(path, **_there(path, told), kind=outcome.kind)
        log.info("%s: %s", path, columns.shown())
        rows += named(path, list(read_labelled(path, columns)), names)
    if labels:
        refuse_unknown(rows, labels, outcome.kind, "is unknown to the model")
    return _held(rows)


def _there(path: Path, told: Any) -> dict[str, Any]:
    """The columns of training that a table has as well; a run on somebody's own file gave them names of its own."""
    first = next(iter(read_rows(path)), None)
    there = set() if first is None else set(first.fields)
    names = {"text", "label", "second", "labels", "origin"}
    if not isinstance(told, dict) or not isinstance(told.get("labels", []), list):
        return {}
    return {
        name: value
        for name, value in told.items()
        if name in names and there.issuperset(value if name == "labels" else [value])
    }


def facts(recipe: Any) -> dict[str, Any]:
    """What a folder remembers of its recipe."""
    named = {name: getattr(recipe.data, name) for name in ("text", "label", "second", "labels", "origin")}
    return {
        "data": recipe.data.corpus or Path(recipe.data.train).name,
        "columns": {name: value for name, value in named.items() if value},
        "numbered": True if recipe.data.names or recipe.data.classes else None,
        "max_length": recipe.data.max_length,
    }


TASK = Task(
    name="text-classification",
    verb=VERBS["classify"],
    use=Classifier,
    together=classifier_of,
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
        best=("macro_f1", "accuracy", "spearman"),  # macro F1 where classes are uneven, or several
        facts=facts,
        lessons=add_lessons,
        settle=settle,
        report=report,
    ),
    automatic=labelled_tables.AUTOMATIC,
)
