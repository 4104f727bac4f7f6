"""Classes of pictures: a Vision Transformer over patches, judged by accuracy."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from clearformer.data.augment import move_picture
from clearformer.data.collate import PictureBatch
from clearformer.data.file_facts import scan
from clearformer.data.readers import pictures
from clearformer.data.readers.pictures import LabelledPicture, Pixels
from clearformer.data.shards import Column, ShardWriter, shards_for
from clearformer.evaluation.accuracy import score_classes
from clearformer.folder.description import ModelFolder
from clearformer.folder.preprocessing import PictureFacts, Preprocessing
from clearformer.inference.picture_classifier import PictureClassifier, as_tensor
from clearformer.tasks.automatic import picture_folders
from clearformer.tasks.data_files import DataFiles, file_names, folder_of
from clearformer.tasks.task import Judging, Prepared, Scores, Seed, Task, Training, Workspace
from clearformer.tasks.verbs import VERBS
from clearformer.training.loss import Loss, cross_entropy

COLUMNS = {"pixels": "u1", "label": "<u4"}
CHUNK = 512
Example = tuple[NDArray[Any], NDArray[Any]]


@dataclass(frozen=True, kw_only=True)
class PictureData(DataFiles):
    """Two idx files (pictures and labels), or one folder with a subfolder per class. Without dev, some are held out."""

    train: str = file_names("a folder of classes")  # a folder with one subfolder per class, or an idx file of pictures
    train_labels: str = file_names()  # an idx file of classes; empty: train is a folder
    dev: str = file_names()  # pictures to choose the best checkpoint by; empty: some of train
    dev_labels: str = file_names()  # their classes, where dev is an idx file
    test: str = file_names()  # pictures for the end
    test_labels: str = file_names()  # their classes, where test is an idx file
    hold_out: int = 1000  # pictures, where there is no dev
    size: int = 0  # pixels on each side; 0: as the first picture has
    channels: int = 0  # 1 or 3; 0: as the first picture has
    shift: int = 0  # augmentation: move by up to so many pixels
    flip: bool = False  # augmentation: mirror every second one


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
    train, dev = _parts(folder, data)
    labels = pictures.label_order([one.label for one in train])
    if unknown := sorted({one.label for one in dev} - set(labels)):
        raise ValueError(f"{folder / data.dev} has the class {unknown[0]!r}, which no training picture has")
    size = data.size or min(train[0].pixels.shape[:2])
    channels = data.channels or train[0].pixels.shape[2]

    def rows(some: Sequence[LabelledPicture]) -> list[Example]:
        fitted = (pictures.fit_square(one.pixels, size, channels).reshape(-1) for one in some)
        return [(pixels, np.array([labels.index(one.label)])) for pixels, one in zip(fitted, some, strict=True)]

    def fill(writer: ShardWriter) -> dict[str, Any]:
        for start in range(0, len(train), CHUNK):
            pixels, numbers = zip(*rows(train[start : start + CHUNK]), strict=True)
            writer.add(pixels=_column(pixels), label=_column(numbers))
            workspace.on_progress(min(start + CHUNK, len(train)), len(train))
        return {"kept": len(train)}

    made_from = {"files": _files(folder, data), "size": size, "channels": channels, "labels": list(labels)}
    made_from["hold_out"] = None if data.dev else data.hold_out
    made = workspace.folder / "shards"
    shards = shards_for(made, columns=COLUMNS, made_from=made_from, fill=fill, same=workspace.resume)
    mean, deviation = pictures.channel_statistics(pixels.reshape(-1, channels) for pixels, _ in shards)
    held = rows(dev)
    return Prepared(
        train=shards,  # type: ignore[arg-type]  # two columns
        lengths=[np.ones(len(shards), dtype=np.int64)],
        dev=held,
        held=HeldPictures(
            pixels=[pixels.reshape(size, size, channels) for pixels, _ in held], labels=[one.label for one in dev]
        ),
        preprocessing=Preprocessing(
            labels=labels, picture=PictureFacts(size=size, channels=channels, mean=mean, deviation=deviation)
        ),
    )


def _parts(folder: Path, data: PictureData) -> tuple[list[LabelledPicture], list[LabelledPicture]]:
    """What is learned from and what is held out."""
    train = list(_read(folder, data.train, data.train_labels))
    if not train:
        raise ValueError(f"{folder / data.train} holds no pictures: give a folder with one subfolder per class")
    if data.dev:
        return train, list(_read(folder, data.dev, data.dev_labels))
    order = np.random.default_rng(1).permutation(len(train))
    held = set(order[: min(data.hold_out, len(train) // 5)].tolist())
    parts = ([one for place, one in enumerate(train) if (place in held) is out] for out in (False, True))
    return next(parts), next(parts)


def _read(folder: Path, name: str, labels: str) -> Iterator[LabelledPicture]:
    if labels:
        return pictures.read_idx_pair(folder / name, folder / labels)
    return pictures.read_class_folders(folder / name)


def _files(folder: Path, data: PictureData) -> list[dict[str, Any]]:
    named = [folder / name for name in (data.train, data.train_labels, data.dev, data.dev_labels) if name]
    inside = [path for one in named for path in ([one] if one.is_file() else sorted(one.rglob("*"))) if path.is_file()]
    return [{"name": str(path.relative_to(folder)), "sha256": scan(path).sha256} for path in inside]


def _column(rows: Sequence[NDArray[Any]]) -> Column:
    return Column(np.concatenate(rows), np.array([len(row) for row in rows]))


def sizes(preprocessing: Preprocessing) -> dict[str, Any]:
    """What the pictures and their classes decide of the model."""
    assert preprocessing.picture is not None
    front = {"kind": "patches", "picture": preprocessing.picture.size, "channels": preprocessing.picture.channels}
    return {"front": front, "head": {"kind": "class", "labels": len(preprocessing.labels)}}


def collate(data: PictureData, preprocessing: Preprocessing) -> Callable[[Sequence[Example], Seed], PictureBatch]:
    """Bytes as a batch; in training, moved and mirrored as the seed says."""
    facts = preprocessing.picture
    assert facts is not None
    shape = (facts.size, facts.size, facts.channels)

    def collate_rows(rows: Sequence[Example], seed: Seed) -> PictureBatch:
        drawn = [pixels.reshape(shape) for pixels, _ in rows]
        if seed and (data.shift or data.flip):
            random = np.random.default_rng(seed)
            drawn = [move_picture(one, random, shift=data.shift, flip=data.flip) for one in drawn]
        labels = torch.tensor([int(label[0]) for _, label in rows])
        return PictureBatch(pictures=as_tensor(drawn, facts), labels=labels)

    return collate_rows


def loss(model: nn.Module, batch: PictureBatch, objective: ClassObjective) -> Loss:
    """Cross-entropy of the class, and how often it was right."""
    logits = model(batch.pictures)
    found = cross_entropy(logits, batch.labels, smoothing=objective.smoothing)
    right = (logits.detach().argmax(dim=-1) == batch.labels).sum()
    return found._replace(metrics={**found.metrics, "accuracy": right})


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
    if len(rest) > 1 or (not rest and not first.is_dir()):
        raise ValueError(f"{first} is no test set of pictures: give a folder of classes, or two idx files")
    found = list(_read(Path(), str(first), str(rest[0]) if rest else ""))
    if not found:
        raise ValueError(f"{first} holds no pictures: give a folder with one subfolder per class")
    known = folder.preprocessing.labels
    if known and (strange := sorted({one.label for one in found} - set(known))):
        raise ValueError(f"{first} has the class {strange[0]!r}, and the model knows {', '.join(known)}: rename it")
    size, channels = (facts.size, facts.channels) if facts else found[0].pixels.shape[1:]
    fitted = [pictures.fit_square(one.pixels, size, channels) for one in found]
    return HeldPictures(pixels=fitted, labels=[one.label for one in found])


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
