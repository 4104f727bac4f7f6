"""Classes of pictures: a Vision Transformer over patches, judged by accuracy."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from clearformer.data.augment import change
from clearformer.data.collate import PictureBatch
from clearformer.data.mixing import mix
from clearformer.data.readers.picture_names import Naming
from clearformer.data.readers.picture_sets import LabelledPicture, is_archive
from clearformer.data.readers.pictures import Pixels, channel_statistics, label_order
from clearformer.data.shards import Column, ShardWriter, shards_for
from clearformer.evaluation.accuracy import score_classes
from clearformer.folder.description import ModelFolder
from clearformer.folder.preprocessing import PictureFacts, Preprocessing
from clearformer.inference.picture_classifier import PictureClassifier, as_shares, fit, normalised
from clearformer.tasks.automatic import picture_folders
from clearformer.tasks.data_files import folder_of
from clearformer.tasks.picture_data import PictureData, made_from, read_parts, read_pictures
from clearformer.tasks.task import Judging, Prepared, Scores, Seed, Task, Training, Workspace
from clearformer.tasks.verbs import VERBS
from clearformer.training.loss import Loss, cross_entropy

COLUMNS = {"pixels": "u1", "label": "<u4"}
CHUNK = 512
Example = tuple[NDArray[Any], NDArray[Any]]


@dataclass(frozen=True, kw_only=True)
class ClassObjective:
    """Cross-entropy of the class."""

    smoothing: float = 0.0  # label smoothing: the share of the probability that is spread over all classes


@dataclass(frozen=True, kw_only=True)
class HeldPictures:
    """Pictures with their classes."""

    pixels: list[Pixels]
    labels: list[str]


def prepare(data: PictureData, workspace: Workspace) -> Prepared[Example]:
    """Read the pictures into shards of bytes, hold some out, and measure their mean and deviation."""
    folder = folder_of(data, workspace.base)
    parts = read_parts(folder, data)
    train, dev, size, channels = parts.train, parts.dev, parts.shape.size, parts.shape.channels
    labels = label_order([one.label for one in train])
    if unknown := sorted({one.label for one in dev} - set(labels)):
        raise ValueError(f"{folder / data.dev} has the class {unknown[0]!r}, which no training picture has")

    def rows(some: Sequence[LabelledPicture]) -> list[Example]:
        return [(one.pixels.reshape(-1), np.array([labels.index(one.label)])) for one in some]

    def fill(writer: ShardWriter) -> dict[str, Any]:
        for start in range(0, len(train), CHUNK):
            pixels, numbers = zip(*rows(train[start : start + CHUNK]), strict=True)
            writer.add(pixels=_column(pixels), label=_column(numbers))
            workspace.on_progress(min(start + CHUNK, len(train)), len(train))
        return {"kept": len(train)}

    told = {"files": made_from(folder, data), "size": size, "channels": channels, "labels": list(labels)}
    told |= {"hold_out": None if data.dev else data.hold_out, "pictures": len(train)}
    told |= {"naming": asdict(data.naming)} if data.naming != Naming() else {}
    shards = shards_for(workspace.folder / "shards", columns=COLUMNS, made_from=told, fill=fill, same=workspace.resume)
    mean, deviation = channel_statistics(pixels.reshape(-1, channels) for pixels, _ in shards)
    return Prepared(
        train=shards,  # type: ignore[arg-type]  # two columns
        lengths=[np.ones(len(shards), dtype=np.int64)],
        dev=rows(dev),
        held=HeldPictures(pixels=[one.pixels for one in dev], labels=[one.label for one in dev]),
        preprocessing=Preprocessing(
            labels=labels, picture=PictureFacts(size=size, channels=channels, mean=mean, deviation=deviation)
        ),
    )


def _column(rows: Sequence[NDArray[Any]]) -> Column:
    return Column(np.concatenate(rows), np.array([len(row) for row in rows]))


def sizes(preprocessing: Preprocessing) -> dict[str, Any]:
    """What the pictures and their classes decide of the model."""
    assert preprocessing.picture is not None
    front = {"kind": "patches", "picture": preprocessing.picture.size, "channels": preprocessing.picture.channels}
    return {"front": front, "head": {"kind": "class", "labels": len(preprocessing.labels)}}


def collate(data: PictureData, preprocessing: Preprocessing) -> Callable[[Sequence[Example], Seed], PictureBatch]:
    """Bytes as a batch; in training, changed and mixed as the seed says."""
    facts, changes, mixing = preprocessing.picture, data.changes, data.mixing
    assert facts is not None
    shape, blank = (facts.size, facts.size, facts.channels), torch.tensor(facts.mean)

    def collate_rows(rows: Sequence[Example], seed: Seed) -> PictureBatch:
        shares = as_shares([pixels.reshape(shape) for pixels, _ in rows])
        labels = torch.tensor([int(label[0]) for _, label in rows])
        if not seed:
            return PictureBatch(pictures=normalised(shares, facts), labels=labels)
        random = np.random.default_rng(seed)
        drawn = normalised(change(shares, changes, random, blank=blank), facts)
        if not mixing.any:
            return PictureBatch(pictures=drawn, labels=labels)
        mixed = mix(drawn, mixing, random)
        return PictureBatch(pictures=mixed.pictures, labels=labels, others=labels[mixed.other], share=mixed.share)

    return collate_rows


def loss(model: nn.Module, batch: PictureBatch, objective: ClassObjective) -> Loss:
    """Cross-entropy of the class, or of both classes of a mixed picture; and how often the (first) one was right."""
    logits = model(batch.pictures)
    found = cross_entropy(logits, batch.labels, smoothing=objective.smoothing)
    if batch.others is not None and batch.share is not None:
        found = found._replace(total=_mixed(logits, batch.labels, batch.others, batch.share, objective.smoothing))
    right = (logits.detach().argmax(dim=-1) == batch.labels).sum()
    return found._replace(metrics={**found.metrics, "accuracy": right})


def _mixed(logits: Tensor, labels: Tensor, others: Tensor, share: Tensor, smoothing: float) -> Tensor:
    """Each picture's two losses in the shares of the two pictures that it is made of."""
    own, other = (
        F.cross_entropy(logits.float(), wanted, reduction="none", label_smoothing=smoothing)
        for wanted in (labels, others)
    )
    return (share * own + (1 - share) * other).sum()


def score(classifier: PictureClassifier, held: HeldPictures, judging: Judging) -> Scores:
    """Accuracy, with an interval if asked thoroughly."""
    count = len(held.pixels) if judging.thorough else judging.scoring.examples
    mine = judging.ranks.share_out(held.pixels[:count])
    found = judging.ranks.collect([one.label for one in classifier.classify(mine, judging.options)])
    scores = score_classes(found, held.labels[:count])
    return scores if judging.thorough else {"accuracy": scores["accuracy"]}


def held_out(files: Sequence[Path], folder: ModelFolder) -> HeldPictures:
    """A test set: a folder of classes, or two idx files."""
    facts = folder.preprocessing.picture
    first, *rest = files
    if len(rest) > 1 or (not rest and not (first.is_dir() or is_archive(first))):
        raise ValueError(f"{first} is no test set of pictures: give a folder or archive of classes, or two idx files")
    found = read_pictures(first, rest[0] if rest else None)
    known, read = folder.preprocessing.labels, []
    for one in found:
        if known and one.label not in known:
            raise ValueError(f"{first} has the class {one.label!r}, and the model knows {', '.join(known)}: rename it")
        # Brought to the model's size at once: a folder of photographs may not fit into memory.
        read.append((one.pixels if facts is None else fit(one.pixels, facts), one.label))
    if not read:
        raise ValueError(f"{first} holds no pictures: give a folder with one subfolder per class")
    return HeldPictures(pixels=[pixels for pixels, _ in read], labels=[label for _, label in read])


TASK = Task(
    name="picture-classification",
    verb=VERBS["classify"],
    use=PictureClassifier,
    training=Training(
        data=PictureData,
        objective=ClassObjective,
        unit="pictures",
        prepare=prepare,
        sizes=sizes,
        collate=collate,
        loss=loss,
        score=score,
        held_out=held_out,
        test_files=lambda data: (data.test, data.test_labels) if data.test_labels else (data.test,),
        best="accuracy",
        facts=lambda recipe: {"data": recipe.data.corpus or Path(recipe.data.train).name},
    ),
    automatic=picture_folders.AUTOMATIC,
)
