"""Pictures in, masks out: a model folder in use, on pictures of any size."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clearformer.data.mask_crops import stretched
from clearformer.data.readers.pictures import PictureError, Pixels, read_picture
from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import MaskFacts, PictureFacts
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.inference.instances import InstanceReading, find_instances
from clearformer.inference.picture_classifier import Picture, as_tensor
from clearformer.inference.predictor import describe
from clearformer.inference.segment_settings import SegmentConfig
from clearformer.inference.tiles import in_tiles
from clearformer.inference.wrong_use import wrong_use

FOREGROUND, RIM, DOWN, RIGHT = range(4)  # what the channels of a network for instances say


@dataclass(frozen=True, kw_only=True)
class Found:
    """One thing: its number in the mask, how many pixels it has, and its box: left, top, width, height."""

    number: int
    label: str
    area: int
    box: tuple[int, int, int, int]


@dataclass(frozen=True, kw_only=True)
class Segmentation:
    """The mask of one picture: Y X. Instances: 1, 2, 3 …, 0 for background; classes: the number of each.

    labels: the name of each class, in the order of `numbers`; of instances, the one that all have.
    """

    mask: NDArray[np.uint16]
    labels: tuple[str, ...]
    numbers: tuple[int, ...] = ()

    @property
    def instances(self) -> bool:
        """Whether each number is a thing."""
        return not self.numbers

    @cached_property
    def found(self) -> list[Found]:
        """Every instance, or every class that has pixels."""
        from scipy.ndimage import find_objects

        numbers = self.mask.astype(np.int32) + (not self.instances)
        areas = np.bincount(numbers.ravel())
        boxes = enumerate(find_objects(numbers), start=1)
        return [self._one(number, int(areas[number]), *place) for number, place in boxes if place is not None]

    def _one(self, number: int, area: int, rows: slice, columns: slice) -> Found:
        box = (columns.start, rows.start, columns.stop - columns.start, rows.stop - rows.start)
        own = number if self.instances else number - 1
        label = self.labels[0 if self.instances else self.numbers.index(own)]
        return Found(number=own, label=label, area=area, box=box)

    def __len__(self) -> int:
        return len(self.found)

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        height, width = self.mask.shape
        things = [{"label": one.label, "number": one.number, "area": one.area, "box": one.box} for one in self.found]
        plain: dict[str, Any] = {"width": width, "height": height}
        if self.instances:
            return plain | {"count": len(self), "instances": things}
        return plain | {"classes": [{**one, "share": one["area"] / (width * height)} for one in things]}


class Segmenter:
    """A mask for each picture."""

    def __init__(self, bundle: Bundle) -> None:
        if bundle.config.head.kind != "masks" or bundle.config.front.kind != "patches":
            raise ValueError(wrong_use(bundle.config, "segmentation", bundle.task))
        self.bundle, self.model = bundle, bundle.model.eval()
        front, halves = bundle.config.front, (0.5,) * bundle.config.front.channels
        self.facts = bundle.preprocessing.picture or PictureFacts(
            size=front.picture, channels=front.channels, mean=halves, deviation=halves
        )
        self.masks = bundle.preprocessing.masks or MaskFacts(kind="classes")
        counted = bundle.config.head.labels
        self.labels = bundle.labels or tuple(f"LABEL_{number}" for number in range(counted))
        if self.masks.kind == "instances" and counted != RIGHT + 1:
            raise ValueError(f"a network for instances says {RIGHT + 1} things of a pixel, and this one {counted}")

    def segment(
        self,
        pictures: Picture | Sequence[Picture],
        config: SegmentConfig | None = None,
        *,
        on_progress: OnProgress = unwatched,
        **changes: Any,
    ) -> list[Segmentation]:
        """The mask of each picture: a file name, or bytes as height, width, channels. In order."""
        given = [pictures] if isinstance(pictures, str | Path | np.ndarray) else list(pictures)
        results = []
        for done, found in enumerate(self.each(given, config, **changes), start=1):
            results.append(found)
            on_progress(done, len(given))
        return results

    def each(
        self, pictures: Sequence[Picture], config: SegmentConfig | None = None, **changes: Any
    ) -> Iterator[Segmentation]:
        """The same, one by one. Each picture is read by itself, so its neighbours cannot change its mask."""
        chosen = replace(config or SegmentConfig(), **changes)
        return (self.mask(self.values(picture, batch=chosen.batch), chosen) for picture in pictures)

    @torch.inference_mode()
    def values(self, picture: Picture, *, batch: int = 8) -> Tensor:
        """What the network says of every pixel: C Y X; probabilities of classes, or of foreground and rim, and offsets
        in pixels.
        """
        pixels = self.read(picture)
        return in_tiles(pixels, self.facts.size, self._tiles, batch=batch, overlap=self.masks.overlap)

    def _tiles(self, tiles: list[Pixels]) -> Tensor:
        inputs = as_tensor(tiles, self.facts).to(next(self.model.parameters()).device)
        said: Tensor = self.model(inputs).float().cpu()
        if self.masks.kind == "classes":
            return said.softmax(dim=1)
        return torch.cat((said[:, :DOWN].sigmoid(), said[:, DOWN:] * self.masks.unit), dim=1)

    def mask(self, values: Tensor, config: SegmentConfig) -> Segmentation:
        """The mask that such values of every pixel are read as. values: C Y X."""
        if self.masks.kind == "classes":
            numbers = self.masks.numbers or tuple(range(len(self.labels)))
            mask = np.array(numbers)[values.argmax(dim=0).numpy()]
            return Segmentation(mask=mask.astype(np.uint16), labels=self.labels, numbers=numbers)
        said = values.numpy()
        reading = InstanceReading(
            threshold=config.threshold,
            reach=self.masks.reach,
            votes=self.masks.votes,
            smallest=config.smallest or self.masks.smallest,
        )
        mask = find_instances(said[FOREGROUND], said[RIM], said[DOWN:], reading)
        if mask.max() > np.iinfo(np.uint16).max:
            raise PictureError(f"{mask.max():,} things were found, more than a mask of 16 bits has numbers for")
        return Segmentation(mask=mask.astype(np.uint16), labels=self.labels)

    def read(self, picture: Picture) -> Pixels:
        """A picture as the network reads it, in its own size."""
        channels = self.facts.channels
        pixels = read_picture(Path(picture), channels=channels) if isinstance(picture, str | Path) else picture
        return fitted(pixels if pixels.ndim == 3 else pixels[..., None], channels, stretch=self.masks.stretch)

    def __repr__(self) -> str:
        what = "instances" if self.masks.kind == "instances" else f"{len(self.labels)} classes"
        return describe(self, f"{what}, tiles of {self.facts.size} × {self.facts.size}")


def fitted(pixels: Pixels, channels: int, *, stretch: bool) -> Pixels:
    """A picture as the network reads it, in its own size: grey or in colours, perhaps with its brightness stretched."""
    if pixels.shape[2] != channels:
        from PIL import Image

        image = Image.fromarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels)
        pixels = np.asarray(image.convert({1: "L", 3: "RGB"}[channels]))
        pixels = pixels if pixels.ndim == 3 else pixels[..., None]
    return stretched(pixels) if stretch else pixels
