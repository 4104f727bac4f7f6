"""Pictures with boxes for the task that finds them: read, refused or left out, held out, and kept in shards."""

import hashlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clearformer.data.box_views import ViewConfig, resample
from clearformer.data.readers.box_files import boxes_there, read_boxed
from clearformer.data.readers.boxes import BoxedPicture, BoxError, load, problems, without
from clearformer.data.readers.pictures import Pixels, label_order
from clearformer.data.shards import Column, Shards, ShardWriter, shards_for
from clearformer.tasks.data_files import DataFiles, file_names, folder_of
from clearformer.tasks.task import Workspace

log = logging.getLogger(__name__)
COLUMNS = {"pixels": "u1", "shape": "<u4", "boxes": "<f4", "labels": "<u4"}
LARGER = 2  # times the network's picture: what is kept of a picture, so that a part of it is still sharp
Example = tuple[NDArray[Any], ...]


@dataclass(frozen=True, kw_only=True)
class BoxData(DataFiles):
    """COCO JSON, a folder of VOC XML files, or a list of `ImageSets/Main`; also inside an archive, as in a folder.

    Without dev, some are held out. A data set without parts is divided by #train, #dev and #test behind its name.
    """

    train: str = file_names("pictures with boxes")  # COCO JSON, or a folder or list in the layout of Pascal VOC
    dev: str = file_names()  # the same, to choose the best checkpoint by; empty: some of train
    test: str = file_names()  # the same, for the end
    hold_out: int = 200  # pictures, where there is no dev
    faulty: Literal["refuse", "leave-out"] = "refuse"  # boxes that are empty, swapped, outside or there twice
    size: int = 256  # pixels on each side that the network sees: all of a picture, stretched
    channels: int = 0  # 1 or 3; 0: as the first picture has
    views: ViewConfig = field(default_factory=ViewConfig)  # augmentation


def check_boxes(data: BoxData, workspace: Workspace) -> None:
    """Refuse data that is not there before anything is made."""
    if not data.train:
        raise ValueError("the recipe's [data] section needs train: pictures with boxes")
    folder = folder_of(data, workspace.base)
    for key, name in (("train", data.train), ("dev", data.dev)):
        if name and not boxes_there(folder / name):
            raise ValueError(f"{folder / name} does not exist; data.{key} names it")


def read_parts(data: BoxData, base: Path) -> tuple[list[BoxedPicture], list[BoxedPicture], tuple[str, ...]]:
    """What is learned from, what is held out, and the classes."""
    folder = folder_of(data, base)
    train = read_boxed(folder / data.train)
    if data.dev:
        dev = read_boxed(folder / data.dev)
    else:
        order = np.random.default_rng(1).permutation(len(train)).tolist()
        count = min(data.hold_out, max(1, len(train) // 5))
        dev = [train[number] for number in sorted(order[:count])]
        train = [train[number] for number in sorted(order[count:])]
    names = label_order([name for one in train for name in one.names])
    if not names:
        raise BoxError(f"{folder / data.train} has no box: mark what is to be found")
    return train, dev, names


def loaded(
    some: Iterable[BoxedPicture], names: Sequence[str], *, faulty: str, channels: int | None, part: str = ""
) -> Iterator[tuple[Pixels, BoxedPicture]]:
    """Each picture with its boxes in pixels. faulty: refuse the first that is wrong, or leave such boxes out.

    part: in whose name it is said how many were left out.
    """
    out = 0
    for one in some:
        pixels, here = load(one, channels=channels)
        height, width = pixels.shape[:2]
        if wrong := problems(here, width, height, names):
            if faulty == "refuse":
                raise BoxError(f'{wrong[0].place}: {wrong[0].what} (data.faulty = "leave-out" passes over such boxes)')
            out += len(wrong)
            here = without(here, wrong)
        yield pixels, replace(here, boxes=here.boxes.clip(0, [width, height] * 2))
    if out and part:
        log.info("%s: %d %s left out; the doctor says why", part, out, "box was" if out == 1 else "boxes were")


def box_shards(
    data: BoxData, workspace: Workspace, train: Sequence[BoxedPicture], names: Sequence[str], channels: int
) -> Shards:
    """Training pictures as bytes, no larger than is of use, with their boxes."""

    def fill(writer: ShardWriter) -> dict[str, Any]:
        rows = loaded(train, names, faulty=data.faulty, channels=channels, part="train")
        for number, (pixels, one) in enumerate(rows, start=1):
            parts = as_example(pixels, one, names, most=LARGER * data.size)
            writer.add(**{name: _column(part) for name, part in zip(COLUMNS, parts, strict=True)})
            workspace.on_progress(number, len(train))
        return {"kept": len(train)}

    made_from = {
        "pictures": fingerprint(train), "size": data.size, "channels": channels, "labels": list(names),
        "faulty": data.faulty, "hold_out": None if data.dev else data.hold_out,
    }  # fmt: skip
    return shards_for(
        workspace.folder / "shards", columns=COLUMNS, made_from=made_from, fill=fill, same=workspace.resume
    )


def as_seen(pixels: Pixels, one: BoxedPicture, names: Sequence[str], *, size: int) -> Example:
    """An example as the network will be asked: all of the picture as a square."""
    height, width = pixels.shape[:2]
    square = resample(pixels, (0, 0, width, height), size)
    boxes = one.boxes * np.array([size / width, size / height] * 2, dtype=np.float32)
    return as_example(square, replace(one, boxes=boxes), names, most=size)


def as_example(pixels: Pixels, one: BoxedPicture, names: Sequence[str], *, most: int) -> Example:
    """Pixels, height and width, boxes and classes as rows of numbers; `most`: pixels of the longer side."""
    height, width = pixels.shape[:2]
    boxes = one.boxes
    if max(height, width) > most:
        from PIL import Image

        share = most / max(height, width)
        small = max(1, round(width * share)), max(1, round(height * share))
        image = Image.fromarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels)
        made = np.asarray(image.resize(small, Image.Resampling.BILINEAR), dtype=np.uint8)
        pixels = made if made.ndim == 3 else made[..., None]
        boxes = boxes * np.array([small[0] / width, small[1] / height] * 2, dtype=np.float32)
    labels = np.array([names.index(name) for name in one.names], dtype=np.uint32)
    shape = np.array(pixels.shape[:2], dtype=np.uint32)
    return pixels.reshape(-1), shape, boxes.astype(np.float32).reshape(-1), labels


def fingerprint(some: Iterable[BoxedPicture]) -> str:
    """Of every picture and every box."""
    digest = hashlib.sha256()
    for one in some:
        digest.update(hashlib.sha256(one.store.read(one.picture)).digest() if one.store.has(one.picture) else b"-")
        digest.update(repr((one.picture, one.names, one.boxes.tolist())).encode())
    return digest.hexdigest()


def _column(row: NDArray[Any]) -> Column:
    return Column(row, np.array([len(row)]))
