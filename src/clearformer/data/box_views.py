"""New pictures with boxes out of old ones: turned and mirrored, cropped at several scales, recoloured, with objects of
other pictures pasted in.

What is drawn comes from the generator alone. A view has the same shape as the whole picture that the model will be
asked about, so that objects keep their proportions. H W C height, width, channels; N 4 left, top, right, bottom.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clearformer.data.readers.boxes import Boxes
from clearformer.data.readers.pictures import Pixels

Symmetry = Literal["none", "mirror", "all"]
FREE = 0.2  # of a pasted object's place that may be covered already
TRIES = 8  # places that are drawn for an object before it is left out


class Marked(NamedTuple):
    """A picture with its boxes in pixels and the class of each."""

    pixels: Pixels
    boxes: Boxes
    labels: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class ViewConfig:
    """How views are drawn. Without any of it, pictures stay as they are."""

    symmetry: Symmetry = "mirror"  # mirror: left and right; all: turned by quarters as well, where up means nothing
    smallest: float = 0.6  # of a picture's width: the narrowest part that is shown
    largest: float = 1.2  # of a picture's width: the widest, with an empty border
    squeeze: float = 0.1  # of a part's proportions: up to so much wider or narrower
    colour: float = 0.2  # how much brightness, contrast and each channel may change
    paste: int = 0  # at most so many objects of other pictures are put into free places
    least: float = 0.3  # of an object that has to be seen for its box to count

    def __post_init__(self) -> None:
        if not 0 < self.smallest <= self.largest <= 4:
            raise ValueError(f"views need 0 < smallest <= largest <= 4, not {self.smallest} and {self.largest}")
        for name, most in (("squeeze", 0.5), ("colour", 0.9), ("least", 1.0)):
            if not 0 <= getattr(self, name) <= most:
                raise ValueError(f"views.{name} is between 0 and {most}, not {getattr(self, name)}")
        if self.paste < 0:
            raise ValueError(f"views.paste is a number of objects, not {self.paste}")


def draw_view(
    one: Marked, others: Sequence[Marked], random: np.random.Generator, config: ViewConfig, *, size: int
) -> Marked:
    """One new picture of `size` by `size`. others: whose objects may be pasted."""
    shape = one.pixels.shape[:2]
    if config.paste and others:
        one = paste(one, others, random, config.paste)
    one = turn(one, _symmetry(config.symmetry, random))
    one = crop(one, *_window(one, shape, random, config), size=size, least=config.least)
    return recolour(one, random, config.colour) if config.colour else one


def turn(one: Marked, symmetry: int) -> Marked:
    """One of the eight symmetries of a square: by quarters anticlockwise, and mirrored from the fifth on."""
    pixels = np.rot90(one.pixels, symmetry % 4)
    height, width = one.pixels.shape[:2]
    boxes = one.boxes
    for _ in range(symmetry % 4):
        left, top, right, bottom = boxes.T
        boxes = np.stack((top, width - right, bottom, width - left), axis=1)
        width, height = height, width
    if symmetry >= 4:
        pixels = pixels[:, ::-1]
        left, top, right, bottom = boxes.T
        boxes = np.stack((width - right, top, width - left, bottom), axis=1)
    return Marked(np.ascontiguousarray(pixels), boxes, one.labels)


def crop(one: Marked, left: float, top: float, width: float, height: float, *, size: int, least: float) -> Marked:
    """A window as a square of `size`; what lies outside the picture is grey, and boxes are cut at the window."""
    scale = np.array([size / width, size / height] * 2, dtype=np.float32)
    moved = (one.boxes - np.array([left, top] * 2, dtype=np.float32)) * scale
    cut = moved.clip(0, size)
    seen = _area(cut) / np.maximum(_area(moved), 1e-6)
    kept = seen >= least
    pixels = resample(one.pixels, (left, top, left + width, top + height), size)
    return Marked(pixels, cut[kept], one.labels[kept])


def resample(pixels: Pixels, window: tuple[float, float, float, float], size: int) -> Pixels:
    """A window of a picture, scaled to a square. Every source pixel counts, so that fine patterns stay."""
    from PIL import Image

    height, width = pixels.shape[:2]
    left, top, right, bottom = window
    image = Image.fromarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels)
    if left < 0 or top < 0 or right > width or bottom > height:
        edge = [int(np.floor(left)), int(np.floor(top)), int(np.ceil(right)), int(np.ceil(bottom))]
        canvas = Image.new(image.mode, (edge[2] - edge[0], edge[3] - edge[1]), (128,) * pixels.shape[2])
        canvas.paste(image, (-edge[0], -edge[1]))
        image, window = canvas, (left - edge[0], top - edge[1], right - edge[0], bottom - edge[1])
    made = np.asarray(image.resize((size, size), Image.Resampling.BILINEAR, box=window), dtype=np.uint8)
    return made if made.ndim == 3 else made[..., None]


def recolour(one: Marked, random: np.random.Generator, most: float) -> Marked:
    """Brighter or darker, more or less contrast, each channel a little by itself."""
    gain = np.exp(random.uniform(-most, most) + random.uniform(-most / 3, most / 3, one.pixels.shape[2]))
    shift = random.uniform(-most, most) * 64
    middle = one.pixels.mean()
    table = (np.arange(256)[:, None] - middle) * gain + middle + shift  # 256 C: each value of a channel becomes another
    made = np.empty_like(one.pixels)
    for channel in range(one.pixels.shape[2]):
        made[..., channel] = table[:, channel].clip(0, 255).astype(np.uint8)[one.pixels[..., channel]]
    return one._replace(pixels=made)


def paste(one: Marked, others: Sequence[Marked], random: np.random.Generator, most: int) -> Marked:
    """Put objects of other pictures into free places, each under an oval that fades at its edge."""
    pixels, boxes, labels = one.pixels.copy(), list(one.boxes), list(one.labels)
    height, width = pixels.shape[:2]
    for _ in range(int(random.integers(most + 1))):
        donor = others[int(random.integers(len(others)))]
        if not len(donor.labels):
            continue
        # each class is drawn as often as any other: rare ones need it most
        chosen = random.choice(np.flatnonzero(donor.labels == random.choice(np.unique(donor.labels))))
        left, top, right, bottom = donor.boxes[chosen].round().astype(int)
        piece = donor.pixels[max(top, 0) : bottom, max(left, 0) : right]
        piece = np.rot90(piece, int(random.integers(4)))
        high, wide = piece.shape[:2]
        if min(high, wide) < 4 or high >= height or wide >= width or piece.shape[2] != pixels.shape[2]:
            continue
        for _ in range(TRIES):
            x, y = int(random.integers(width - wide)), int(random.integers(height - high))
            place = np.array([x, y, x + wide, y + high], dtype=np.float32)
            if _covered(place, np.array(boxes).reshape(-1, 4)) <= FREE:
                part = pixels[y : y + high, x : x + wide]
                part[:] = _blend(part, piece)
                boxes.append(place)
                labels.append(donor.labels[chosen])
                break
    return Marked(pixels, np.array(boxes, dtype=np.float32).reshape(-1, 4), np.array(labels, dtype=np.int64))


def _blend(under: Pixels, over: Pixels) -> Pixels:
    """The oval that touches the edges, fading over its outer fifth. Cells and heads are rounder than their boxes."""
    high, wide = over.shape[:2]
    down, across = ((np.arange(side) + 0.5) / side * 2 - 1 for side in (high, wide))
    distance = np.sqrt(down[:, None] ** 2 + across[None] ** 2)
    weight = ((1.1 - distance) / 0.2).clip(0, 1)[..., None]
    mixed: Pixels = (weight * over + (1 - weight) * under).astype(np.uint8)
    return mixed


def _covered(place: Boxes, boxes: Boxes) -> float:
    """The largest share of a place, or of a box there, that both have."""
    if not len(boxes):
        return 0.0
    both = np.concatenate((np.maximum(place[:2], boxes[:, :2]), np.minimum(place[2:], boxes[:, 2:])), axis=1)
    shared = _area(both)
    smaller = np.minimum(_area(boxes), _area(place[None]))
    return float((shared / np.maximum(smaller, 1e-6)).max())


def _area(boxes: Boxes) -> NDArray[np.float32]:
    found: NDArray[np.float32] = (boxes[:, 2] - boxes[:, 0]).clip(0) * (boxes[:, 3] - boxes[:, 1]).clip(0)
    return found


def _symmetry(kind: Symmetry, random: np.random.Generator) -> int:
    return {"none": 0, "mirror": int(random.integers(2)) * 4, "all": int(random.integers(8))}[kind]


def _window(
    one: Marked, shape: tuple[int, ...], random: np.random.Generator, config: ViewConfig
) -> tuple[float, float, float, float]:
    """Left, top, width and height of the part to show: the proportions of the whole, more or less."""
    height, width = one.pixels.shape[:2]
    share = np.exp(random.uniform(np.log(config.smallest), np.log(config.largest)))
    wider = np.exp(random.uniform(-config.squeeze, config.squeeze) / 2)
    wide, high = shape[1] * share * wider, shape[0] * share / wider
    left, top = (random.uniform(*sorted((0.0, room))) for room in (width - wide, height - high))
    return left, top, wide, high
