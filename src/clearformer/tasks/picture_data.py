"""Pictures with their classes, as a recipe names them: idx files, a folder of classes, or an archive of one."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from clearformer.data.augment import Changes
from clearformer.data.file_facts import scan
from clearformer.data.mixing import Mixing
from clearformer.data.readers.idx_files import read_idx_pair
from clearformer.data.readers.picture_names import ClassFrom, Naming
from clearformer.data.readers.picture_sets import LabelledPicture, Tolerance, Unreadable, read_classes
from clearformer.data.readers.pictures import Pixels, fit_square
from clearformer.tasks.data_files import DataFiles, file_names


@dataclass(frozen=True, kw_only=True)
class PictureFiles(DataFiles):
    """Which pictures are learned from, held out and tested on, and the square that they are brought to."""

    # a folder with one subfolder per class, an archive of one (.zip, .tar.gz), or an idx file of pictures
    train: str = file_names("a folder of classes")
    train_labels: str = file_names()  # an idx file of classes; empty: train is a folder or an archive
    dev: str = file_names()  # pictures to choose the best checkpoint by; empty: some of train
    dev_labels: str = file_names()  # their classes, where dev is an idx file
    test: str = file_names()  # pictures for the end
    test_labels: str = file_names()  # their classes, where test is an idx file
    hold_out: int = 1000  # pictures, where there is no dev
    class_from: ClassFrom = "folder"  # folders and archives: the class is the folder's name, the file's, or in a table
    within: str = ""  # folders and archives: only pictures below this folder in it count
    table: str = "labels.tsv"  # class_from table: the table in the folder or archive; its first column has the names
    column: str = ""  # class_from table: the column with the classes
    unreadable: Unreadable = "stop"  # what a picture that cannot be read does: stop, or be left out, counted and named
    size: int = 0  # pixels on each side; 0: as the first picture has
    channels: int = 0  # 1 or 3; 0: as the first picture has

    def __post_init__(self) -> None:
        if self.hold_out < 1 or self.size < 0 or self.channels not in (0, 1, 3):
            raise ValueError(
                "data.hold_out is at least 1, data.size at least 0, and data.channels 0, 1 or 3, "
                f"not {self.hold_out}, {self.size} and {self.channels}"
            )
        _ = self.naming  # it checks its settings

    @property
    def naming(self) -> Naming:
        """How the class of a picture is found."""
        return Naming(by=self.class_from, within=self.within, table=self.table, column=self.column)


@dataclass(frozen=True, kw_only=True)
class PictureData(PictureFiles):
    """Two idx files (pictures and labels), or one folder or archive with a subfolder per class.

    Without dev, some are held out. All augmentation is drawn from the seed and the place in the plan.
    """

    shift: int = 0  # augmentation: move by up to so many pixels
    flip: bool = False  # augmentation: mirror every second one
    zoom: float = 0.0  # augmentation: up to so much larger or smaller; 0.1 is a tenth
    rotate: float = 0.0  # augmentation: by up to so many degrees
    colour: float = 0.0  # augmentation: brightness, contrast and saturation change by up to this share
    erase: float = 0.0  # augmentation: every second one loses a rectangle of up to this share of its area
    mixup: float = 0.0  # augmentation: two pictures laid over one another; parameter of the beta distribution
    cutmix: float = 0.0  # augmentation: a rectangle of another picture; parameter of the beta distribution

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.changes, self.mixing  # both check their numbers

    @property
    def changes(self) -> Changes:
        """How a picture by itself is changed in training."""
        return Changes(
            shift=self.shift, flip=self.flip, zoom=self.zoom, rotate=self.rotate, colour=self.colour, erase=self.erase
        )

    @property
    def mixing(self) -> Mixing:
        """How pictures are mixed in training."""
        return Mixing(mixup=self.mixup, cutmix=self.cutmix)


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The square that all pictures of a model are brought to."""

    size: int
    channels: int


Read = Callable[[Path, Path | None, Tolerance], Iterator[LabelledPicture]]


@dataclass(frozen=True, kw_only=True)
class PictureParts:
    """What is learned from and what is held out, all of one shape."""

    train: list[LabelledPicture]
    dev: list[LabelledPicture]
    shape: Shape


def read_pictures(
    source: Path, labels: Path | None, tolerance: Tolerance | None = None, naming: Naming | None = None
) -> Iterator[LabelledPicture]:
    """The pictures of a file or folder, in order."""
    return iter(read_idx_pair(source, labels) if labels else read_classes(source, tolerance=tolerance, naming=naming))


def read_parts(folder: Path, data: PictureFiles, *, read: Read | None = None) -> PictureParts:
    """Read all pictures, each brought to the model's shape at once: a folder of photographs may not fit into memory.

    read: how the pictures of a file or folder are found, if not with a class for each.
    """
    read = read or partial(read_pictures, naming=data.naming)
    tolerance = Tolerance(unreadable=data.unreadable)
    pictures = read(folder / data.train, _below(folder, data.train_labels), tolerance)
    first = next(pictures, None)
    if first is None:
        tolerance.report()
        raise ValueError(f"{folder / data.train} holds no pictures: give a folder with one subfolder per class")
    height, width, channels = first.pixels.shape
    shape = Shape(size=data.size or min(height, width), channels=data.channels or channels)
    train = [fitted(first, shape), *(fitted(one, shape) for one in pictures)]
    if data.dev:
        held = read(folder / data.dev, _below(folder, data.dev_labels), tolerance)
        dev = [fitted(one, shape) for one in held]
    else:
        train, dev = _held_out(train, data.hold_out)
    tolerance.report()
    return PictureParts(train=train, dev=dev, shape=shape)


def fitted(one: LabelledPicture, shape: Shape) -> LabelledPicture:
    """The middle square of a picture in the model's size, and in its channels."""
    pixels: Pixels = fit_square(one.pixels, shape.size, shape.channels)
    return replace(one, pixels=pixels)


def made_from(folder: Path, data: PictureFiles) -> list[dict[str, Any]]:
    """The files behind training and development, by name and content."""
    named = [folder / name for name in (data.train, data.train_labels, data.dev, data.dev_labels) if name]
    inside = [path for one in named for path in ([one] if one.is_file() else sorted(one.rglob("*"))) if path.is_file()]
    return [{"name": str(path.relative_to(folder)), "sha256": scan(path).sha256} for path in inside]


def _held_out(pictures: list[LabelledPicture], count: int) -> tuple[list[LabelledPicture], list[LabelledPicture]]:
    order = np.random.default_rng(1).permutation(len(pictures))
    held = set(order[: min(count, len(pictures) // 5)].tolist())
    parts = ([one for place, one in enumerate(pictures) if (place in held) is out] for out in (False, True))
    return next(parts), next(parts)


def _below(folder: Path, name: str) -> Path | None:
    return folder / name if name else None
