"""Masks of pictures: the outline of each thing, or the class of every pixel. One network, two ways to read it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearformer.data.collate import Batch
from clearformer.data.mask_crops import CropChanges, cut_crop, draw_crop
from clearformer.data.mask_targets import class_batch, instance_batch
from clearformer.data.readers.pictures import Pixels, channel_statistics
from clearformer.data.shards import Column, ShardWriter, shards_for
from clearformer.evaluation.mask_scores import score_classes_of_pixels, score_instances
from clearformer.folder.description import ModelFolder
from clearformer.folder.preprocessing import MaskFacts, PictureFacts, Preprocessing
from clearformer.inference.picture_classifier import as_tensor
from clearformer.inference.segmenter import Segmenter
from clearformer.tasks.automatic import mask_folders
from clearformer.tasks.mask_data import HeldMasks, MaskData, check, held_of, masks_to_test, parts_of
from clearformer.tasks.mask_objectives import MaskObjective, loss
from clearformer.tasks.task import Judging, Prepared, Scores, Seed, Task, Training, Workspace
from clearformer.tasks.verbs import VERBS

COLUMNS = {"pixels": "u1", "mask": "<u2", "shape": "<u4"}
INSTANCE_CHANNELS = 4  # foreground, rim, and the offset down and right
Example = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def prepare(data: MaskData, workspace: Workspace) -> Prepared[Example]:
    """Read pictures and masks into shards of bytes, hold some out, and measure their mean and deviation."""
    parts = parts_of(data, workspace.base)
    channels = data.channels or parts.train[0].pixels.shape[2]
    facts = MaskFacts(
        kind=parts.kind,
        numbers=parts.numbers,
        void=parts.void,
        stretch=data.stretch,
        unit=data.unit,
        reach=data.reach,
        votes=data.votes,
        smallest=data.smallest,
    )
    train, dev = (held_of(some, channels, facts) for some in (parts.train, parts.dev))

    def fill(writer: ShardWriter) -> dict[str, Any]:
        for done, row in enumerate(zip(train.pixels, train.masks, strict=True), start=1):
            writer.add(
                **{name: Column(value, np.array([len(value)])) for name, value in zip(COLUMNS, flat(*row), strict=True)}
            )
            workspace.on_progress(done, len(train.masks))
        return {"kept": len(train.masks)}

    made_from = {"files": parts.files, "channels": channels, "kind": parts.kind, "numbers": list(parts.numbers)}
    made_from |= {"hold_out": None if data.dev else data.hold_out, "stretch": data.stretch, "void": parts.void}
    shards = shards_for(
        workspace.folder / "shards", columns=COLUMNS, made_from=made_from, fill=fill, same=workspace.resume
    )
    mean, deviation = channel_statistics(train.pixels)
    return Prepared(
        train=shards,  # type: ignore[arg-type]  # three columns
        lengths=[np.ones(len(shards), dtype=np.int64)],
        dev=[flat(*row) for row in zip(dev.pixels, dev.masks, strict=True)],
        held=dev,
        preprocessing=Preprocessing(
            labels=parts.labels,
            picture=PictureFacts(size=data.size, channels=channels, mean=mean, deviation=deviation),
            masks=facts,
        ),
    )


def flat(pixels: Pixels, mask: NDArray[np.uint16]) -> Example:
    """A row of shards: numbers without a shape, and the shape."""
    return pixels.reshape(-1), mask.reshape(-1), np.array(pixels.shape, dtype=np.uint32)


def shaped(example: Example) -> tuple[Pixels, NDArray[np.uint16]]:
    """The inverse."""
    pixels, mask, shape = example
    height, width, channels = shape.tolist()
    return pixels.reshape(height, width, channels), mask.reshape(height, width)


def sizes(preprocessing: Preprocessing) -> dict[str, Any]:
    """What the pictures and their masks decide of the model."""
    assert preprocessing.picture is not None
    assert preprocessing.masks is not None
    front = {"kind": "patches", "picture": preprocessing.picture.size, "channels": preprocessing.picture.channels}
    count = INSTANCE_CHANNELS if preprocessing.masks.kind == "instances" else len(preprocessing.labels)
    return {"front": front, "head": {"kind": "masks", "labels": count}}


def collate(data: MaskData, preprocessing: Preprocessing) -> Callable[[Sequence[Example], Seed], Batch]:
    """A crop of each picture: in training drawn and changed as the seed says, otherwise the middle as it is."""
    picture, masks = preprocessing.picture, preprocessing.masks
    assert picture is not None
    assert masks is not None
    changes = CropChanges(flip=data.flip, turn=data.turn, scale=data.scale, light=data.light, invert=data.invert)

    def collate_rows(rows: Sequence[Example], seed: Seed) -> Batch:
        whole = [shaped(row) for row in rows]
        if seed:
            random = np.random.default_rng(seed)
            crops = [draw_crop(pixels, mask, picture.size, changes, random) for pixels, mask in whole]
        else:
            crops = [cut_crop(*one, picture.size, _middle(one[1].shape, picture.size)) for one in whole]
        pictures = as_tensor([crop.pixels for crop in crops], picture)
        return (
            instance_batch(crops, pictures, masks.unit)
            if masks.kind == "instances"
            else class_batch(crops, pictures, len(masks.numbers))
        )

    return collate_rows


def _middle(shape: tuple[int, ...], size: int) -> tuple[int, int, int]:
    return (shape[0] - size) // 2, (shape[1] - size) // 2, size


def score(segmenter: Segmenter, held: HeldMasks, judging: Judging) -> Scores:
    """Dice and average precision of instances, or intersection over union of classes."""
    count = len(held.pixels) if judging.thorough else judging.scoring.examples
    mine = judging.ranks.share_out(held.pixels[:count])
    found = judging.ranks.collect([one.mask for one in segmenter.segment(mine, judging.options)])
    wanted = held.masks[:count]
    if segmenter.masks.kind == "instances":
        scores = score_instances(found, wanted)
        quick: tuple[str, ...] = ("ap50", "dice")
    else:
        void = len(segmenter.labels)
        table = {number: place for place, number in enumerate(segmenter.masks.numbers)}
        places = [np.vectorize(table.__getitem__, otypes=[np.int64])(one) for one in found]
        scores = score_classes_of_pixels(places, wanted, segmenter.labels, void)
        quick = ("mean_iou",)
    return scores if judging.thorough else {name: scores[name] for name in quick}


def held_out(files: Sequence[Path], folder: ModelFolder) -> HeldMasks:
    """A test set: pictures beside masks."""
    facts = folder.preprocessing.masks
    picture = folder.preprocessing.picture
    if facts is None or picture is None:
        raise ValueError(f"{folder.path} does not say how its masks are read; it was not trained here")
    return masks_to_test(files, picture.channels, facts)


TASK = Task(
    name="segmentation",
    verb=VERBS["segment"],
    use=Segmenter,
    training=Training(
        data=MaskData,
        objective=MaskObjective,
        unit="pictures",
        check=check,
        prepare=prepare,
        sizes=sizes,
        collate=collate,
        loss=loss,
        score=score,
        held_out=held_out,
        test_files=lambda data: (data.test,),
        best=("ap50", "mean_iou"),
        facts=lambda recipe: {"data": recipe.data.corpus or Path(recipe.data.train).name},
    ),
    automatic=mask_folders.AUTOMATIC,
)
