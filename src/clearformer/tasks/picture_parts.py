"""Files of pictures as training, development and test parts: what the tasks over pictures share.

A part is a pair of idx files, one idx file, a folder with one subfolder per class, or a folder of pictures.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearformer.data.readers.idx_files import read_idx
from clearformer.data.readers.picture_sets import LabelledPicture, Tolerance, class_folders, is_archive, picture_files
from clearformer.data.readers.pictures import PictureError, Pixels, label_order
from clearformer.data.shards import Column, Shards, ShardWriter, shards_for
from clearformer.folder.description import ModelFolder
from clearformer.foundation import settings
from clearformer.inference.picture_classifier import fit
from clearformer.tasks.data_files import folder_of
from clearformer.tasks.picture_data import PictureFiles, made_from, read_parts, read_pictures
from clearformer.tasks.task import Workspace

COLUMNS = {"pixels": "u1", "label": "<u4"}
CHUNK = 512
RECIPE = "recipe.toml"  # of the run that a model folder lies in
PictureRow = tuple[NDArray[Any], NDArray[Any]]  # the pixels of a picture in a row, and the number of its class


@dataclass(frozen=True, kw_only=True)
class PicturePart:
    """Pictures of one size with the names of their classes; the name is empty where there are none."""

    pixels: list[Pixels]
    labels: list[str]

    def __len__(self) -> int:
        return len(self.pixels)

    def first(self, count: int) -> "PicturePart":
        """Some of them."""
        return PicturePart(pixels=self.pixels[:count], labels=self.labels[:count])


@dataclass(frozen=True, kw_only=True)
class GatheredPictures:
    """What a recipe's [data] section names, read: training pictures in shards, and what is held out of them."""

    train: Shards
    dev: list[PictureRow]
    held: PicturePart
    labels: tuple[str, ...]
    size: int
    channels: int


def gather(data: PictureFiles, workspace: Workspace) -> GatheredPictures:
    """Read the pictures into shards of bytes, and hold some out."""
    folder = folder_of(data, workspace.base)
    parts = read_parts(folder, data, read=read_part)
    train, dev, size, channels = parts.train, parts.dev, parts.shape.size, parts.shape.channels
    labels = label_order([one.label for one in train])
    if unknown := sorted({one.label for one in dev} - set(labels)):
        raise ValueError(f"{folder / data.dev} has the class {unknown[0]!r}, which no training picture has")

    def rows(some: Sequence[LabelledPicture]) -> list[PictureRow]:
        return [(one.pixels.reshape(-1), np.array([labels.index(one.label)])) for one in some]

    def fill(writer: ShardWriter) -> dict[str, Any]:
        for start in range(0, len(train), CHUNK):
            pixels, numbers = zip(*rows(train[start : start + CHUNK]), strict=True)
            writer.add(pixels=_column(pixels), label=_column(numbers))
            workspace.on_progress(min(start + CHUNK, len(train)), len(train))
        return {"kept": len(train)}

    told = {"files": made_from(folder, data), "size": size, "channels": channels, "labels": list(labels)}
    told |= {"hold_out": None if data.dev else data.hold_out, "pictures": len(train)}
    shards = shards_for(workspace.folder / "shards", columns=COLUMNS, made_from=told, fill=fill, same=workspace.resume)
    held = PicturePart(pixels=[one.pixels for one in dev], labels=[one.label for one in dev])
    return GatheredPictures(train=shards, dev=rows(dev), held=held, labels=labels, size=size, channels=channels)


def read_part(
    source: Path, labels: Path | None = None, tolerance: Tolerance | None = None
) -> Iterator[LabelledPicture]:
    """The pictures that a name stands for; without classes, they have an empty name for one."""
    tolerance = tolerance or Tolerance()
    if labels is None and source.is_file() and not is_archive(source):
        return _without_classes(source)
    if labels is None and source.is_dir() and not class_folders(source):
        return _loose(source, tolerance)
    return read_pictures(source, labels, tolerance)


def evaluated_part(files: Sequence[Path], folder: ModelFolder) -> PicturePart:
    """A test set as `evaluate` names it, in the size that the model reads."""
    first, *rest = files
    if len(rest) > 1:
        raise ValueError(f"{rest[1]} is one file too many: give a folder of pictures, or idx files of them and classes")
    facts = folder.preprocessing.picture
    if facts is None:
        raise ValueError(f"{folder.path} does not say how large its pictures are; train the model anew")
    found = [(fit(one.pixels, facts), one.label) for one in read_part(first, rest[0] if rest else None)]
    if not found:
        raise ValueError(f"{first} holds no pictures: give a folder of them, or an idx file")
    return PicturePart(pixels=[pixels for pixels, _ in found], labels=[label for _, label in found])


def training_part(folder: ModelFolder) -> PicturePart | None:
    """The pictures that a model learned from, by the recipe of its run; None where that or they are gone."""
    recipe = folder.path.parent / RECIPE
    if not recipe.is_file() or folder.preprocessing.picture is None:
        return None
    given = settings.read_toml(recipe).get("data", {})
    known = {name: given[name] for name in PictureFiles.__dataclass_fields__ if name in given}
    try:
        data = PictureFiles(**known)
        train = read_parts(folder_of(data, recipe.parent), data, read=read_part).train
    except (OSError, ValueError):  # a corpus that is not here, files that were moved
        return None
    return PicturePart(pixels=[one.pixels for one in train], labels=[one.label for one in train])


def pixel_table(part: PicturePart) -> NDArray[np.float32]:
    """Each picture as one row of numbers from 0 to 1."""
    table: NDArray[np.float32] = np.stack(part.pixels).reshape(len(part), -1).astype(np.float32)
    table /= 255
    return table


def _loose(folder: Path, tolerance: Tolerance) -> Iterator[LabelledPicture]:
    for path in picture_files(folder):
        if (pixels := tolerance.read(path)) is not None:
            yield LabelledPicture(pixels=pixels, label="", path=str(path))


def _without_classes(path: Path) -> Iterator[LabelledPicture]:
    drawn = read_idx(path)
    if drawn.ndim not in (3, 4):
        raise PictureError(
            f"{path} holds no pictures, but numbers in {drawn.ndim} dimensions: give the file of pictures"
        )
    for number, pixels in enumerate(drawn):
        whole = pixels if pixels.ndim == 3 else pixels[..., None]
        yield LabelledPicture(pixels=whole, label="", path=f"{path}#{number}")


def _column(rows: Sequence[NDArray[Any]]) -> Column:
    return Column(np.concatenate(rows), np.array([len(row) for row in rows]))
