"""A tag for each word of a text, and so the names in it: an encoder with a head over tokens, judged by entities."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from torch import nn

from clearformer.data.class_split import hold_out_by_class
from clearformer.data.collate import UNTAGGED, TaggedBatch, collate_tagged
from clearformer.data.entity_tags import bio_labels
from clearformer.data.file_facts import scan
from clearformer.data.readers.conll import Illegal, TaggedSentence, read_conll
from clearformer.data.shards import Column, ShardWriter, shards_for, token_type_for
from clearformer.data.token_pairs import TokenIds
from clearformer.data.word_pieces import SHAPE_TYPES, markers, unknown, word_pieces
from clearformer.evaluation.entities import score_entities
from clearformer.folder.description import ModelFolder
from clearformer.folder.preprocessing import Preprocessing
from clearformer.inference.reader_ensembles import tagger_of
from clearformer.inference.word_tagger import Tagger
from clearformer.tasks.automatic import tagged_files
from clearformer.tasks.data_files import DataFiles, file_names, folder_of, several
from clearformer.tasks.learned_vocabulary import vocabularies
from clearformer.tasks.tag_report import HeldSentences, report
from clearformer.tasks.task import Judging, Prepared, Scores, Seed, Task, Training, Workspace
from clearformer.tasks.verbs import VERBS
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.train_tokenizer import TokenizerConfig
from clearformer.training.loss import Loss

log = logging.getLogger(__name__)
Example = tuple[TokenIds, ...]  # pieces; tags of first pieces, UNTAGGED elsewhere; types, if words' shapes are told


@dataclass(frozen=True, kw_only=True)
class TaggedData(DataFiles):
    """CoNLL files: a word and its tag on each line, a blank line between sentences."""

    train: str | tuple[str, ...] = file_names("a CoNLL file of words with tags")  # to learn from; one file or a list
    dev: str = file_names()  # a file to choose the best checkpoint by; empty: some of train
    test: str = file_names()  # a file for the end
    illegal: Illegal = "refuse"  # an I-X that follows no X: refuse the file, or repair the tag and say how often
    words: Literal["spaced", "characters"] = "spaced"  # what a word is where the model reads running text
    shapes: bool = False  # tell the model what a word looks like: capitals, digits, signs
    hold_out: float = 0.1  # share of the sentences, where there is no dev
    vocabulary: TokenizerConfig = field(default_factory=lambda: TokenizerConfig(kind="wordpiece"))
    max_length: int = 128  # tokens; a longer sentence is learned from in parts
    word_dropout: float = 0.0  # chance that a word is hidden in training, so that its neighbours have to tell

    def __post_init__(self) -> None:
        if self.max_length < 8:
            raise ValueError(f"data.max_length is {self.max_length}; a sentence needs at least 8 tokens")


@dataclass(frozen=True, kw_only=True)
class TagObjective:
    """Cross-entropy of each word's tag."""

    smoothing: float = 0.0  # label smoothing: the share of the probability that is spread over all tags


def prepare(data: TaggedData, workspace: Workspace) -> Prepared[Example]:
    """Read the sentences, hold some out, learn a vocabulary, and keep the pieces with their tags."""
    folder = folder_of(data, workspace.base)
    paths = [folder / name for name in several(data.train)]
    train = [one for path in paths for one in read_sentences(path, data.illegal)]
    dev = read_sentences(folder / data.dev, data.illegal) if data.dev else []
    if not dev:
        named = ["with" if set(one.tags) != {"O"} else "without" for one in train]
        held = hold_out_by_class([one.words for one in train], named, share=data.hold_out)
        dev = [one for one, out in zip(train, held, strict=True) if out]
        train = [one for one, out in zip(train, held, strict=True) if not out]
    labels = bio_labels([tag[2:] for one in train for tag in one.tags if tag != "O"])
    if unseen := sorted({tag for one in dev for tag in one.tags} - set(labels)):
        raise ValueError(f"{folder / (data.dev or paths[0])}: the tag {unseen[0]!r} does not occur in training")
    start = None if workspace.start is None else workspace.start.preprocessing
    texts = [" ".join(one.words) for one in train]
    [tokenizer] = vocabularies(data.vocabulary, {"joint": texts}, workspace, () if start is None else start.sides[:1])
    made_from = {
        "files": [vars(scan(path)) for path in (*paths, *([folder / data.dev] if data.dev else []))],
        "tokenizer": tokenizer.fingerprint(),
        "hold_out": data.hold_out,
        "max_length": data.max_length,
        "illegal": data.illegal,
        "shapes": data.shapes,
        "labels": list(labels),
    }

    def fill(writer: ShardWriter) -> dict[str, Any]:
        rows = [row for one in train for row in encode(tokenizer, one, labels, data)]
        lengths = np.array([len(row[0]) for row in rows])
        parts = (np.concatenate(column) for column in zip(*rows, strict=True))
        writer.add(**{name: Column(part, lengths) for name, part in zip(columns, parts, strict=True)})
        return {"kept": len(rows)}

    columns = {"tokens": token_type_for(tokenizer.vocab_size), "tags": "<i2"}
    columns |= {"types": "|u1"} if data.shapes else {}
    made = workspace.folder / "shards"
    shards = shards_for(made, columns=columns, made_from=made_from, fill=fill, same=workspace.resume)
    return Prepared(
        train=shards,
        lengths=[shards.lengths("tokens")],
        dev=[row for one in dev for row in encode(tokenizer, one, labels, data)],
        held=_held(dev),
        preprocessing=Preprocessing(tokenizer=tokenizer, labels=labels, types="shapes" if data.shapes else "texts"),
    )


def _held(rows: Sequence[TaggedSentence]) -> HeldSentences:
    return HeldSentences(
        words=[one.words for one in rows], tags=[one.tags for one in rows], places=[one.place for one in rows]
    )


def read_sentences(path: Path, illegal: Illegal) -> list[TaggedSentence]:
    """Every sentence of a file; how many of its lines were mended is said."""
    read = list(read_conll(path, illegal=illegal))
    if not read:
        raise ValueError(f"{path} has no sentences: write a word, a tab and a tag on each line")
    if lines := [line for one in read for line in one.repaired]:
        log.warning("%s: %d lines were repaired, the first is line %d", path, len(lines), lines[0])
    return read


def encode(tokenizer: Tokenizer, one: TaggedSentence, labels: Sequence[str], data: TaggedData) -> Iterator[Example]:
    """A sentence with markers; one that is too long in parts, each of which begins with a word."""
    before, after = markers(tokenizer)
    room = data.max_length - len(before) - len(after)
    ids, first, types = word_pieces(tokenizer, one.words, shapes=data.shapes)
    tags = np.full(len(ids), UNTAGGED)
    tags[first] = [labels.index(tag) for tag in one.tags]
    start = 0
    while start < len(ids):
        end = len(ids) if len(ids) - start <= room else max(place for place in first if place <= start + room)
        if end <= start:  # a word of more pieces than fit: its first ones are read
            end = next((place for place in first if place > start), len(ids))
        inner = slice(start, min(end, start + room))
        around = len(before), len(after)
        row = np.array([*before, *ids[inner], *after]), np.pad(tags[inner], around, constant_values=UNTAGGED)
        yield (*row, np.pad(types[inner], around)) if data.shapes else row
        start = end


def sizes(preprocessing: Preprocessing) -> dict[str, Any]:
    """What vocabulary and tags decide of the model."""
    head = {"kind": "tags", "labels": len(preprocessing.labels)}
    told = {"embedding": {"types": SHAPE_TYPES}} if preprocessing.types == "shapes" else {}
    return {"vocab_size": preprocessing.sides[0].vocab_size, "head": head, **told}


def collate(data: TaggedData, preprocessing: Preprocessing) -> Callable[[Sequence[Example], Seed], TaggedBatch]:
    """Rows as a batch; in training, some words are hidden with all their pieces, as the seed says."""
    tokenizer = preprocessing.sides[0]
    hidden = tokenizer.special_ids.get("mask", unknown(tokenizer))
    _, after = markers(tokenizer)

    def hide(ids: TokenIds, tags: TokenIds, random: np.random.Generator) -> TokenIds:
        word = np.cumsum(tags != UNTAGGED)  # 0 before the first word
        chosen = (random.random(word[-1] + 1) < data.word_dropout)[word] & (word > 0)
        chosen[len(ids) - len(after) :] = False
        return np.where(chosen, hidden, ids)

    def collate_rows(rows: Sequence[Example], seed: Seed) -> TaggedBatch:
        random = np.random.default_rng(seed) if seed and data.word_dropout else None
        given = rows if random is None else [(hide(row[0], row[1], random), *row[1:]) for row in rows]
        return collate_tagged(given, pad=tokenizer.special_ids.get("pad", 0))

    return collate_rows


def loss(model: nn.Module, batch: TaggedBatch, objective: TagObjective) -> Loss:
    """Cross-entropy over the first pieces of words, and how many of their tags were right."""
    tagged = batch.tags != UNTAGGED
    logits, tags = model(batch.ids, keep=batch.keep, types=batch.types)[tagged], batch.tags[tagged]
    log_probs = logits.float().log_softmax(-1)
    nll = -log_probs.gather(-1, tags[:, None])[:, 0]
    each = (1 - objective.smoothing) * nll - objective.smoothing * log_probs.mean(dim=-1)
    right = (logits.detach().argmax(dim=-1) == tags).sum()
    return Loss(each.sum(), len(tags), {"nll": nll.detach().sum(), "accuracy": right})


def score(tagger: Tagger, held: HeldSentences, judging: Judging) -> Scores:
    """F1 of entities, with an interval and by type if asked thoroughly."""
    count = len(held.words) if judging.thorough else judging.scoring.examples
    mine = judging.ranks.share_out(held.words[:count])
    found = judging.ranks.collect(tagger.tag_words(mine, judging.options))
    return score_entities(found, held.tags[:count], interval=judging.thorough)


def held_out(files: Sequence[Path], folder: ModelFolder) -> HeldSentences:
    """A test set: CoNLL files, read as those of training were."""
    illegal: Illegal = "repair" if folder.provenance.get("illegal") == "repair" else "refuse"
    return _held([one for path in files for one in read_sentences(path, illegal)])


def facts(recipe: Any) -> dict[str, Any]:
    """What a folder remembers of its recipe."""
    return {
        "data": recipe.data.corpus or ", ".join(Path(name).name for name in several(recipe.data.train)),
        "words": recipe.data.words,
        "illegal": recipe.data.illegal,
        "max_length": recipe.data.max_length,
    }


TASK = Task(
    name="tagging",
    verb=VERBS["tag"],
    use=Tagger,
    together=tagger_of,
    training=Training(
        data=TaggedData,
        objective=TagObjective,
        unit="words",
        prepare=prepare,
        sizes=sizes,
        collate=collate,
        loss=loss,
        score=score,
        held_out=held_out,
        test_files=lambda data: (data.test,),
        best="f1",
        facts=facts,
        report=report,
    ),
    automatic=tagged_files.AUTOMATIC,
)
