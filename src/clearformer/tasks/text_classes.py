"""Classes of texts, or of pairs of texts: an encoder with a class head. Also several labels, or a number."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from clearformer.data.class_split import hold_out_by_class
from clearformer.data.collate import LabelledBatch, collate_labelled
from clearformer.data.file_facts import scan
from clearformer.data.pair_types import OVERLAP_TYPES, pair_types
from clearformer.data.readers.label_cells import LabelKind
from clearformer.data.readers.labelled import LabelledText, find_columns, read_labelled
from clearformer.data.readers.tables import read_rows
from clearformer.data.shards import Column, ShardWriter, shards_for, token_type_for
from clearformer.data.token_pairs import TokenIds
from clearformer.folder.description import ModelFolder
from clearformer.folder.preprocessing import Preprocessing
from clearformer.inference.reader_ensembles import classifier_of
from clearformer.inference.text_readers import Classifier
from clearformer.inference.text_windows import TextOrPair
from clearformer.tasks.automatic import labelled_tables
from clearformer.tasks.data_files import DataFiles, file_names, folder_of
from clearformer.tasks.label_goals import Goals, refuse_unknown
from clearformer.tasks.label_objectives import LabelObjective, loss
from clearformer.tasks.label_scores import HeldTexts, report, score, settle
from clearformer.tasks.learned_vocabulary import vocabularies
from clearformer.tasks.task import Prepared, Seed, Task, Training, Workspace
from clearformer.tasks.verbs import VERBS
from clearformer.text.lines import read_lines
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.train_tokenizer import TokenizerConfig

log = logging.getLogger(__name__)
Example = tuple[Any, ...]  # ids; the numbers of the labels, or the number itself; of a pair, the types of its tokens


@dataclass(frozen=True, kw_only=True)
class LabelledData(DataFiles):
    """A table (CSV, TSV, JSON lines) with a text and a label in each row; columns that are not named are found."""

    train: str = file_names("a table of texts with labels")  # a table to learn from
    dev: str = file_names()  # a table to choose the best checkpoint by; empty: some of train
    test: str = file_names()  # a table for the end
    text: str | None = None  # the name of the text's column, or its number from 1 where there are no headings
    label: str | None = None  # the name of the label's column
    classes: tuple[str, ...] = ()  # class names, where the labels are their numbers from 0
    names: str = file_names()  # the same as a file, one name on each line
    second: str | None = None  # the name of a second text's column, where the class belongs to a pair
    kind: LabelKind = "one"  # what a label is: one class, several (`a|b`, `a;b` or a JSON list), or a number
    labels: tuple[str, ...] = ()  # several: the names of columns of 0 and 1, one per label, in place of `label`
    origin: str | None = None  # the name of a column that says where a row came from, for reports
    hold_out: float = 0.1  # share of each class, where there is no dev
    vocabulary: TokenizerConfig = field(default_factory=lambda: TokenizerConfig(kind="wordpiece"))
    max_length: int = 256  # tokens; of a longer text the beginning is read, and how many are is said
    overlap: bool = False  # pairs: tell the model which tokens both texts have
    word_dropout: float = 0.0  # chance that a token is hidden in training


def prepare(data: LabelledData, workspace: Workspace) -> Prepared[Example]:
    """Read the tables, hold some out, learn a vocabulary, and keep the tokens."""
    folder = folder_of(data, workspace.base)
    names = _class_names(folder, data)
    train = _read(folder / data.train, data, names)
    dev = _read(folder / data.dev, data, names) if data.dev else []
    if not dev:
        classes = ["" if data.kind == "number" else row.label for row in train]
        held = hold_out_by_class([_key(row) for row in train], classes, share=data.hold_out)
        dev = [row for row, out in zip(train, held, strict=True) if out]
        train = [row for row, out in zip(train, held, strict=True) if not out]
    goals = Goals.of(train, data.kind, names)
    refuse_unknown(dev, goals.labels, data.kind, "does not occur in training")
    log.info("%s", goals.said())
    start = None if workspace.start is None else workspace.start.preprocessing
    texts = [text for row in train for text in (row.text, row.second) if text is not None]
    [tokenizer] = vocabularies(data.vocabulary, {"joint": texts}, workspace, () if start is None else start.sides[:1])
    files = [name for name in (data.train, data.dev) if name]
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
    columns |= {"types": "|u1"} if pairs else {}

    def fill(writer: ShardWriter) -> dict[str, Any]:
        rows = encode(tokenizer, train, data)
        numbers = [goals.numbers(row) for row in train]
        told = {"types": _column([types for _, types in rows], np.int64)} if pairs else {}
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


def _class_names(folder: Path, data: LabelledData) -> Sequence[str] | None:
    if data.classes and data.names:
        raise ValueError("data.classes and data.names both name the classes; keep one of them")
    return (data.classes or None) if not data.names else list(read_lines(folder / data.names))


def _read(path: Path, data: LabelledData, names: Sequence[str] | None) -> list[LabelledText]:
    told = {name: getattr(data, name) for name in ("text", "label", "second", "labels", "origin", "kind")}
    return named(path, list(read_labelled(path, find_columns(path, **told))), names)


def _held(rows: Sequence[LabelledText]) -> HeldTexts:
    return HeldTexts(
        texts=[_given(row) for row in rows], labels=[row.label for row in rows], places=[row.place for row in rows]
    )


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


def _given(row: LabelledText) -> TextOrPair:
    return row.text if row.second is None else (row.text, row.second)


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
        types = [row[2] for row in rows] if len(rows[0]) > 2 else None
        pad = tokenizer.special_ids.get("pad", 0)
        batch = collate_labelled(list(zip(texts, firsts, strict=True)), pad=pad, types=types)
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
        settle=settle,
        report=report,
    ),
    automatic=labelled_tables.AUTOMATIC,
)
