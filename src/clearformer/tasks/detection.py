"""Objects in pictures: every patch of a Vision Transformer may name one, and a matching says which patch should.

Judged by average precision at half overlap.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from clearformer.data.box_views import Marked, crop, draw_view
from clearformer.data.collate import Batch
from clearformer.data.readers import pictures
from clearformer.data.readers.box_files import read_boxed
from clearformer.data.readers.boxes import BoxedPicture, BoxError
from clearformer.evaluation.box_precision import PictureBoxes, score_boxes
from clearformer.folder.description import ModelFolder
from clearformer.folder.preprocessing import PictureFacts, Preprocessing
from clearformer.inference.detector import Detector
from clearformer.inference.picture_classifier import as_tensor
from clearformer.model.cell_boxes import cell_centres
from clearformer.tasks.automatic import boxed_folders
from clearformer.tasks.box_choices import best_outcome
from clearformer.tasks.boxed_data import BoxData, Example, as_seen, box_shards, check_boxes, loaded, read_parts
from clearformer.tasks.task import Judging, Prepared, Scores, Seed, Settled, Task, Training, Workspace
from clearformer.tasks.verbs import VERBS
from clearformer.training.box_loss import BoxWeights, box_loss
from clearformer.training.box_matching import CostConfig, Objects
from clearformer.training.loss import Loss

EVERY = 10_000  # boxes of a picture, before duplicates are dropped
LEAST_SCORE = 0.01  # boxes that are less sure add next to nothing to average precision
PORTION = 32  # pictures at a time, when scoring


@dataclass(frozen=True, kw_only=True)
class BoxBatch(Batch):
    """Pictures with their objects. N objects at most; the label -1 is padding."""

    pictures: Tensor  # B C Y X
    labels: Tensor  # B N
    boxes: Tensor  # B N 4: centre, width and height as fractions


@dataclass(frozen=True, kw_only=True)
class BoxObjective:
    """A set of boxes, matched one to one with the objects."""

    weights: BoxWeights = field(default_factory=BoxWeights)  # of the loss
    cost: CostConfig = field(default_factory=CostConfig)  # of the matching


@dataclass(frozen=True, kw_only=True)
class HeldBoxes:
    """Pictures to be scored on. They are read when their turn comes."""

    pictures: Sequence[BoxedPicture]
    names: tuple[str, ...]
    faulty: str = "leave-out"


def prepare(data: BoxData, workspace: Workspace) -> Prepared[Example]:
    """Read the pictures into shards of bytes with their boxes, and measure their mean and deviation."""
    train, dev, names = read_parts(data, workspace.base)
    if not data.channels:
        first, _ = next(iter(loaded(train[:1], names, faulty="leave-out", channels=None)))
        data = replace(data, channels=first.shape[2])
    shards = box_shards(data, workspace, train, names, data.channels)
    mean, deviation = pictures.channel_statistics(row[0].reshape(-1, data.channels) for row in shards)
    held = loaded(dev, names, faulty=data.faulty, channels=data.channels, part="dev")
    return Prepared(
        train=shards,
        lengths=[np.ones(len(shards), dtype=np.int64)],
        dev=[as_seen(pixels, one, names, size=data.size) for pixels, one in held],
        held=HeldBoxes(pictures=dev, names=names, faulty=data.faulty),
        preprocessing=Preprocessing(
            labels=names,
            picture=PictureFacts(size=data.size, channels=data.channels, mean=mean, deviation=deviation, fit="stretch"),
        ),
    )


def sizes(preprocessing: Preprocessing) -> dict[str, Any]:
    """What the pictures and their classes decide of the model."""
    assert preprocessing.picture is not None
    front = {"kind": "patches", "picture": preprocessing.picture.size, "channels": preprocessing.picture.channels}
    return {"front": front, "head": {"kind": "boxes", "labels": len(preprocessing.labels)}}


def collate(data: BoxData, preprocessing: Preprocessing) -> Callable[[Sequence[Example], Seed], BoxBatch]:
    """Pictures and objects as a batch; in training, views of them as the seed says."""
    facts = preprocessing.picture
    assert facts is not None

    def collate_rows(rows: Sequence[Example], seed: Seed) -> BoxBatch:
        marked = [_marked(row, facts.channels) for row in rows]
        if seed:
            random = np.random.default_rng(seed)
            drawn = [draw_view(one, marked, random, data.views, size=facts.size) for one in marked]
        else:
            drawn = [_whole(one, facts.size) for one in marked]
        return as_batch(drawn, facts)

    return collate_rows


def as_batch(drawn: Sequence[Marked], facts: PictureFacts) -> BoxBatch:
    """Square pictures and their boxes as tensors, filled up to the largest number of boxes."""
    most = max(1, *(len(one.labels) for one in drawn))
    labels = torch.full((len(drawn), most), -1)
    boxes = torch.full((len(drawn), most, 4), 0.5)
    for row, one in enumerate(drawn):
        count = len(one.labels)
        corners = torch.from_numpy(one.boxes.astype(np.float32) / facts.size).reshape(-1, 4)
        labels[row, :count] = torch.from_numpy(one.labels)
        boxes[row, :count] = torch.cat(((corners[:, :2] + corners[:, 2:]) / 2, corners[:, 2:] - corners[:, :2]), dim=1)
    return BoxBatch(pictures=as_tensor([one.pixels for one in drawn], facts), labels=labels, boxes=boxes)


def _marked(row: Example, channels: int) -> Marked:
    pixels, shape, boxes, labels = row
    height, width = shape.tolist()
    whole = np.asarray(pixels).reshape(height, width, channels)
    return Marked(whole, np.asarray(boxes).reshape(-1, 4), np.asarray(labels).astype(np.int64))


def _whole(one: Marked, size: int) -> Marked:
    height, width = one.pixels.shape[:2]
    return crop(one, 0, 0, width, height, size=size, least=0.0)


def loss(model: nn.Module, batch: BoxBatch, objective: BoxObjective) -> Loss:
    """What the matched patches say wrong, and what the others say at all."""
    output = model(batch.pictures)
    classes = model.head.classes  # type: ignore[union-attr]
    centres = cell_centres(math.isqrt(output.size(1)), output.device)
    objects = Objects(labels=batch.labels, boxes=batch.boxes)
    return box_loss(output, centres, objects, int(classes), objective.weights, objective.cost)  # type: ignore[arg-type]


def score(detector: Detector, held: HeldBoxes, judging: Judging) -> Scores:
    """Average precision, with an interval if asked thoroughly."""
    some = held.pictures if judging.thorough else held.pictures[: judging.scoring.examples]
    found, wanted = find_all(detector, replace(held, pictures=some), judging)
    scores = score_boxes(found, wanted, held.names, interval=judging.thorough)
    out = sum(len(one.names) for one in some) - sum(len(one.labels) for one in wanted)
    return {**scores, "boxes_left_out": float(out)} if out and judging.thorough else scores


def find_all(detector: Detector, held: HeldBoxes, judging: Judging) -> tuple[list[PictureBoxes], list[PictureBoxes]]:
    """What is found in each picture, however unsure, and what is marked in it."""
    options = replace(judging.options, threshold=LEAST_SCORE)
    mine = judging.ranks.share_out(list(held.pictures))
    found: list[PictureBoxes] = []
    wanted: list[PictureBoxes] = []
    for start in range(0, len(mine), PORTION):
        rows = list(loaded(mine[start : start + PORTION], held.names, faulty=held.faulty, channels=None))
        for (_, one), seen in zip(rows, detector.detect([pixels for pixels, _ in rows], options), strict=True):
            boxes = np.array([thing.box for thing in seen.objects], dtype=np.float64).reshape(-1, 4)
            labels = [held.names.index(thing.label) for thing in seen.objects]
            found.append(PictureBoxes(boxes, labels, [thing.score for thing in seen.objects]))
            wanted.append(PictureBoxes(one.boxes.astype(np.float64), [held.names.index(name) for name in one.names]))
        judging.on_progress(min(start + PORTION, len(mine)), len(mine))
    return judging.ranks.collect(found), judging.ranks.collect(wanted)


def settle(detector: Detector, held: HeldBoxes, judging: Judging) -> Settled:
    """From which score on boxes of each class are given, and how much two may share: by the best F1 on dev."""
    options = replace(judging.options, duplicates=1.0, most=EVERY)
    found, wanted = find_all(detector, held, replace(judging, options=options))
    outcome, f1 = best_outcome(found, wanted, detector.bundle.preprocessing.outcome, classes=len(held.names))
    shown = ", ".join(f"{name} {limit:.2f}" for name, limit in zip(held.names, outcome.thresholds, strict=True))
    said = (
        f"thresholds: {shown}, which have the best F1 of their class on dev ({f1:.3f} with one for all); of two boxes "
        f"of a class that share more than {outcome.duplicates:g}, the surer one is given"
    )
    return Settled(outcome=outcome, said=said)


def held_out(files: Sequence[Path], folder: ModelFolder) -> HeldBoxes:
    """A test set: COCO JSON, or a folder or list in the layout of VOC."""
    if len(files) != 1:
        raise ValueError(f"{files[1]} is one file too many: give one COCO JSON file, or one folder of VOC XML files")
    found = read_boxed(files[0])
    known = folder.preprocessing.labels
    if strange := sorted({name for one in found for name in one.names} - set(known)):
        raise BoxError(f"{files[0]} has the class {strange[0]!r}, and the model knows {', '.join(known)}: rename it")
    return HeldBoxes(pictures=found, names=known)


TASK = Task(
    name="detection",
    verb=VERBS["detect"],
    use=Detector,
    training=Training(
        data=BoxData,
        objective=BoxObjective,
        unit="objects",
        check=check_boxes,
        prepare=prepare,
        sizes=sizes,
        collate=collate,
        loss=loss,
        score=score,
        held_out=held_out,
        test_files=lambda data: (data.test,),
        best="ap50",
        facts=lambda recipe: {"data": recipe.data.corpus or Path(recipe.data.train).name},
        settle=settle,
    ),
    automatic=boxed_folders.AUTOMATIC,
)
