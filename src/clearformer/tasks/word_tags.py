"""A tag for each word of a text, and so the names in it: an encoder with a head over tokens, judged by entities."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from clearformer.data.collate import UNTAGGED, TaggedBatch, collate_tagged, with_soft_tags
from clearformer.data.file_facts import scan
from clearformer.data.readers.conll import Illegal, TaggedSentence
from clearformer.data.readers.soft_labels import SoftSentence, read_soft_sentences
from clearformer.data.shards import Column, ShardWriter, shards_for, token_type_for
from clearformer.data.token_pairs import TokenIds
from clearformer.data.word_pieces import SHAPE_TYPES, markers, unknown, word_pieces
from clearformer.evaluation.entities import score_entities
from clearformer.folder.description import ModelFolder
from clearformer.folder.preprocessing import Preprocessing
from clearformer.inference.reader_ensembles import tagger_of
from clearformer.inference.word_tagger import Tagger
from clearformer.tasks.automatic import tagged_files
from clearformer.tasks.data_files import folder_of, several
from clearformer.tasks.label_objectives import check_lessons
from clearformer.tasks.learned_vocabulary import vocabularies
from clearformer.tasks.tag_lessons import add_lessons
from clearformer.tasks.tag_report import HeldSentences, report
from clearformer.tasks.tagged_data import TaggedData, labels_in, read_sentences, split
from clearformer.tasks.task import Judging, Prepared, Scores, Seed, Task, Training, Workspace
from clearformer.tasks.verbs import VERBS
from clearformer.text.tokenizer import Tokenizer
from clearformer.training.loss import Loss, divergence, learned_from

log = logging.getLogger(__name__)
# Pieces; tags of first pieces, UNTAGGED elsewhere; types, if words' shapes are told; of a lesson, what the teacher says
# of each word, end to end, and whether people gave the tags.
Example = tuple[NDArray[Any], ...]


@dataclass(frozen=True, kw_only=True)
class TagObjective:
    """Cross-entropy of each word's tag."""

    smoothing: float = 0.0  # label smoothing: the share of the probability that is spread over all tags
    teacher_weight: float = 0.5  # lessons: a teacher's share in the loss of a word that has a tag, too
    teacher_temperature: float = 2.0  # lessons: above 1, what a teacher finds improbable counts more

    def __post_init__(self) -> None:
        check_lessons(self.teacher_weight, self.teacher_temperature)


def prepare(data: TaggedData, workspace: Workspace) -> Prepared[Example]:
    """Read the sentences, hold some out, learn a vocabulary, and keep the pieces with their tags."""
    folder = folder_of(data, workspace.base)
    paths = [folder / name for name in several(data.train)]
    tagged, dev = split(data, folder)
    labels = labels_in(tagged)
    if unseen := sorted({tag for one in dev for tag in one.tags} - set(labels)):
        raise ValueError(f"{folder / (data.dev or paths[0])}: the tag {unseen[0]!r} does not occur in training")
    lessons = list(read_soft_sentences(folder / data.lessons, labels)) if data.lessons else []
    if data.unlabelled and not lessons:
        log.info("data.unlabelled is left aside: only a teacher can tag it, by `clearformer distill`")
    start = None if workspace.start is None else workspace.start.preprocessing
    texts = [" ".join(one.words) for one in lessons or tagged]
    [tokenizer] = vocabularies(data.vocabulary, {"joint": texts}, workspace, () if start is None else start.sides[:1])
    files = [*paths, *(folder / name for name in (data.dev, data.lessons) if name)]
    made_from = {
        "files": [vars(scan(path)) for path in files],
        "tokenizer": tokenizer.fingerprint(),
        "hold_out": data.hold_out,
        "max_length": data.max_length,
        "illegal": data.illegal,
        "shapes": data.shapes,
        "labels": list(labels),
    }

    def fill(writer: ShardWriter) -> dict[str, Any]:
        taught = (row for one in lessons for row in encode_lesson(tokenizer, one, labels, data))
        plain = (row for one in tagged for row in encode(tokenizer, one, labels, data))
        rows = list(taught if lessons else plain)
        writer.add(**{name: _column(part) for name, part in zip(columns, zip(*rows, strict=True), strict=True)})
        return {"kept": len(rows)}

    columns = {"tokens": token_type_for(tokenizer.vocab_size), "tags": "<i2"}
    columns |= {"types": "|u1"} if data.shapes or lessons else {}
    columns |= {"soft": "<f4", "given": "|u1"} if lessons else {}
    made = workspace.folder / "shards"
    shards = shards_for(made, columns=columns, made_from=made_from, fill=fill, same=workspace.resume)
    return Prepared(
        train=shards,
        lengths=[shards.lengths("tokens")],
        dev=[row for one in dev for row in encode(tokenizer, one, labels, data)],
        held=_held(dev),
        preprocessing=Preprocessing(tokenizer=tokenizer, labels=labels, types="shapes" if data.shapes else "texts"),
    )


def _column(rows: Sequence[NDArray[Any]]) -> Column:
    return Column(np.concatenate(rows), np.array([len(row) for row in rows]))


def _held(rows: Sequence[TaggedSentence]) -> HeldSentences:
    return HeldSentences(
        words=[one.words for one in rows], tags=[one.tags for one in rows], places=[one.place for one in rows]
    )


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


def encode_lesson(
    tokenizer: Tokenizer, one: SoftSentence, labels: Sequence[str], data: TaggedData
) -> Iterator[Example]:
    """The same of a sentence that a teacher tagged: with what it says of each word, and whether people gave the tags.

    Where they did not, the tags are those that the teacher finds most probable.
    """
    given = one.tags is not None
    tags = one.tags or tuple(labels[place] for place in one.soft.argmax(axis=1))
    said = 0  # words that earlier parts of the sentence have
    for row in encode(tokenizer, TaggedSentence(words=one.words, tags=tags, line=0), labels, data):
        words = int((row[1] != UNTAGGED).sum())
        soft = one.soft[said : said + words].reshape(-1)
        types = row[2] if data.shapes else np.array([], dtype=np.int64)
        yield (row[0], row[1], types, soft, np.array([given]))
        said += words


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
        plain = [row[: 3 if data.shapes else 2] for row in given]
        batch = collate_tagged(plain, pad=tokenizer.special_ids.get("pad", 0))
        return with_soft_tags(batch, [row[3] for row in rows], [row[4] for row in rows]) if len(rows[0]) > 3 else batch

    return collate_rows


def loss(model: nn.Module, batch: TaggedBatch, objective: TagObjective) -> Loss:
    """Cross-entropy over the first pieces of words, and how many of their tags were right."""
    tagged = batch.tags != UNTAGGED
    logits, tags = model(batch.ids, keep=batch.keep, types=batch.types)[tagged], batch.tags[tagged]
    log_probs = logits.float().log_softmax(-1)
    nll = -log_probs.gather(-1, tags[:, None])[:, 0]
    each = (1 - objective.smoothing) * nll - objective.smoothing * log_probs.mean(dim=-1)
    if batch.soft is not None and batch.given is not None:
        taught = divergence(logits, batch.soft[tagged], objective.teacher_temperature)
        given = batch.given[:, None].expand_as(tagged)[tagged]
        each = learned_from(each, taught, given, objective.teacher_weight)
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
        lessons=add_lessons,
        report=report,
    ),
    automatic=tagged_files.AUTOMATIC,
)
