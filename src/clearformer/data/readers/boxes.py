"""Pictures with boxes: the layout of Pascal VOC, COCO's JSON, or a table with one box per picture.

A reader gives what is annotated, as it is; `checked` refuses what cannot be learned from, by file and object. Boxes are
left, top, right and bottom edges in pixels, of the picture as people see it.
"""

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearformer.data.readers.archives import ArchiveError, FileStore
from clearformer.data.readers.pictures import PictureError, Pixels, decode_picture

SLACK = 1.0  # pixels: a box that begins to count at one may end at the picture's width
FARTHEST = 1e9  # pixels: no picture has an edge so far away
Boxes = NDArray[np.float32]  # N 4
OnRefused = Callable[[str, ValueError], None]  # an annotation's place, and why it cannot be read


class BoxError(ValueError):
    """An annotation cannot be read or used; the message names file and object and says what to do."""


def stop(place: str, error: ValueError) -> None:
    """What happens to the first annotation that cannot be read, unless somebody wants to hear of all."""
    raise error


@dataclass(frozen=True, kw_only=True)
class BoxedPicture:
    """A picture's file and what is marked in it. names: of each box's class, in order; size: what the annotation says.

    place: the annotation's file, for messages; picture: the picture's, in its store.
    """

    store: FileStore
    picture: str
    place: str
    boxes: Boxes
    names: tuple[str, ...]
    size: tuple[int, int] | None = None  # width, height
    numbers: tuple[int, ...] = ()  # of the objects in their file, from 1, where some were left out
    fractions: bool = False  # the boxes are shares of the picture's sides, until it is read

    @property
    def path(self) -> str:
        """The picture's place."""
        return self.store.place(self.picture)

    def object(self, index: int) -> str:
        """What to call a box in a message."""
        return f"{self.place}, object {self.number(index)} ({self.names[index]})"

    def number(self, index: int) -> int:
        """Which object of the file a box is, from 1."""
        return self.numbers[index] if self.numbers else index + 1


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Something wrong with an annotation. index: of the box, None where it is about the picture."""

    place: str
    what: str
    index: int | None = None


def load(one: BoxedPicture, *, channels: int | None = None) -> tuple[Pixels, BoxedPicture]:
    """The pixels, upright, and the boxes where they are then.

    A camera may store a picture lying on its side with a note how to turn it. Boxes are of the picture as it is shown,
    unless the size that the annotation gives is that of the picture as it is stored; then they are turned with it.
    """
    try:
        content = one.store.read(one.picture)
    except ArchiveError as error:
        raise PictureError(f"{one.place}: its picture is missing ({error})") from None
    pixels = decode_picture(io.BytesIO(content), one.path, channels=channels)
    height, width = pixels.shape[:2]
    if one.fractions:
        sides = np.array([width, height] * 2, dtype=np.float32)
        one = replace(one, boxes=one.boxes * sides, fractions=False, size=(width, height))
    if one.size is None or one.size == (width, height):
        return pixels, one
    stored, orientation = _stored(content)
    if one.size != stored:
        raise BoxError(
            f"{one.place} says that {one.path} has {one.size[0]} × {one.size[1]} pixels, and it has {width} × "
            f"{height}: give each box the picture that it was drawn on"
        )
    return pixels, replace(one, boxes=turned(one.boxes, orientation, stored), size=(width, height))


def _stored(content: bytes) -> tuple[tuple[int, int], int]:
    """Width and height as stored, and EXIF's orientation."""
    from PIL import Image

    with Image.open(io.BytesIO(content)) as opened:
        return opened.size, int(opened.getexif().get(0x0112, 1))


def turned(boxes: Boxes, orientation: int, stored: tuple[int, int]) -> Boxes:
    """Boxes of a picture as stored, in the picture as shown. orientation: EXIF's number; stored: width, height."""
    width, height = stored
    left, top, right, bottom = boxes.T
    x, y = np.stack((left, right)), np.stack((top, bottom))
    maps: dict[int, Callable[[], tuple[Any, Any]]] = {
        1: lambda: (x, y),
        2: lambda: (width - x, y),
        3: lambda: (width - x, height - y),
        4: lambda: (x, height - y),
        5: lambda: (y, x),
        6: lambda: (height - y, x),
        7: lambda: (height - y, width - x),
        8: lambda: (y, width - x),
    }
    across, down = maps.get(orientation, maps[1])()
    edges = (across.min(axis=0), down.min(axis=0), across.max(axis=0), down.max(axis=0))
    return np.stack(edges, axis=1).astype(np.float32)


def problems(one: BoxedPicture, width: int, height: int, known: Iterable[str] | None = None) -> list[Problem]:
    """What is wrong with the boxes of a picture of this size. known: the classes that there may be."""
    found = []
    classes = None if known is None else set(known)
    seen: dict[tuple[Any, ...], int] = {}
    for index, (box, name) in enumerate(zip(one.boxes.tolist(), one.names, strict=True)):
        what = _problem(box, width, height)
        if what is None and classes is not None and name not in classes:
            what = f"the class {name!r} is unknown: known are {', '.join(sorted(classes))}"
        if what is None and (other := seen.setdefault((name, *box), index)) != index:
            what = f"the same box as object {one.number(other)}: remove one"
        if what is not None:
            found.append(Problem(place=one.object(index), what=what, index=index))
    return found


def _problem(box: Sequence[float], width: int, height: int) -> str | None:
    left, top, right, bottom = box
    shown = f"({left:g}, {top:g}, {right:g}, {bottom:g})"
    if not np.isfinite(box).all():
        return f"the box {shown} has an edge that is no number"
    if right < left or bottom < top:
        return f"the box {shown} is swapped: its right or lower edge comes before the left or upper one"
    if right == left or bottom == top:
        return f"the box {shown} is empty: it has no area"
    if left < -SLACK or top < -SLACK or right > width + SLACK or bottom > height + SLACK:
        return f"the box {shown} lies outside the picture, which has {width} × {height} pixels"
    return None


def without(one: BoxedPicture, wrong: Iterable[Problem]) -> BoxedPicture:
    """The same picture without the boxes that something is wrong with."""
    out = {problem.index for problem in wrong}
    kept = [index for index in range(len(one.names)) if index not in out]
    return replace(
        one,
        boxes=one.boxes[kept],
        names=tuple(one.names[index] for index in kept),
        numbers=tuple((one.numbers or range(1, len(one.names) + 1))[index] for index in kept),
    )


def as_boxes(rows: Sequence[Sequence[float]]) -> Boxes:
    """N rows of four edges, also where there are none."""
    return np.array(rows, dtype=np.float32).reshape(-1, 4)
