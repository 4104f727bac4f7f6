"""New pictures out of old ones, drawn anew at every reading: what a class does not depend on.

Everything here is a pure function of the pictures and of the generator, which the seed and the place in the plan
decide: a resumed run sees the same pictures. N pictures, C channels, Y X height and width; values from 0 to 1.
"""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

GREY = (0.299, 0.587, 0.114)  # how bright red, green and blue are
ERASED = 0.5  # of the pictures lose a rectangle, where some do
LONGEST = 2.0  # side of such a rectangle, in lengths of the other one


@dataclass(frozen=True, kw_only=True)
class Changes:
    """How far a picture may be changed. Nothing is changed by default."""

    shift: int = 0  # pixels, in each direction
    flip: bool = False  # every second one is mirrored
    zoom: float = 0.0  # up to so much larger or smaller: 0.1 is a tenth
    rotate: float = 0.0  # degrees, in each direction
    colour: float = 0.0  # brightness, contrast and saturation times 1 - colour to 1 + colour
    erase: float = 0.0  # half of the pictures lose a rectangle of up to this share of their area

    def __post_init__(self) -> None:
        for name in ("zoom", "colour", "erase"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} is a share, at least 0 and below 1, not {getattr(self, name)}")
        for name in ("shift", "rotate"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be below 0, but is {getattr(self, name)}")

    @property
    def any(self) -> bool:
        """Whether there is anything to do."""
        return self != Changes()


def change(x: Tensor, changes: Changes, random: np.random.Generator, *, blank: Tensor) -> Tensor:
    """x: N C Y X, returned changed. blank: C, what stands where a rectangle was erased."""
    if changes.zoom or changes.rotate:
        x = _turn(x, changes, random)
    elif changes.shift:
        x = _move(x, changes.shift, random)
    if changes.flip:
        mirrored = torch.from_numpy(random.random(len(x)) < 0.5)[:, None, None, None]
        x = torch.where(mirrored, x.flip(-1), x)
    if changes.colour:
        x = _colour(x, changes.colour, random)
    if changes.erase:
        x = _erase(x, changes.erase, random, blank)
    return x


def _move(x: Tensor, shift: int, random: np.random.Generator) -> Tensor:
    """By whole pixels, so nothing is blurred; the edge is repeated where nothing was."""
    count, _, height, width = x.shape
    down, right = random.integers(-shift, shift + 1, size=(2, count, 1))
    rows = torch.from_numpy(np.clip(np.arange(height) - down, 0, height - 1))  # N Y
    columns = torch.from_numpy(np.clip(np.arange(width) - right, 0, width - 1))  # N X
    picture = torch.arange(count)[:, None, None]
    return x.permute(0, 2, 3, 1)[picture, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)


def _turn(x: Tensor, changes: Changes, random: np.random.Generator) -> Tensor:
    """Zoomed, rotated and moved at once, so that it is blurred only once; the edge is repeated where nothing was."""
    count, _, height, width = x.shape
    larger = np.exp(random.uniform(-1, 1, count) * np.log1p(changes.zoom))
    angle = np.deg2rad(random.uniform(-changes.rotate, changes.rotate, count))
    across, down = random.uniform(-changes.shift, changes.shift, (2, count)) * 2  # the grid is two units wide
    cosine, sine = np.cos(angle) / larger, np.sin(angle) / larger
    rows = np.stack(  # from a place of the new picture to a place of the old one; a pixel is a square on both axes
        [cosine, -sine * height / width, -across / width, sine * width / height, cosine, -down / height], axis=-1
    )
    grid = F.affine_grid(_numbers(rows, x).view(-1, 2, 3), list(x.shape), align_corners=False)
    return F.grid_sample(x, grid, mode="bilinear", padding_mode="border", align_corners=False)


def _colour(x: Tensor, most: float, random: np.random.Generator) -> Tensor:
    """Brightness and contrast of every picture, and saturation of those in colour."""
    bright, contrast, saturated = _numbers(random.uniform(1 - most, 1 + most, (3, len(x), 1, 1, 1)), x)
    x = x * bright
    if x.size(1) == len(GREY):
        grey = (x * x.new_tensor(GREY)[:, None, None]).sum(dim=1, keepdim=True)
        x = grey + (x - grey) * saturated
    middle = x.mean(dim=(1, 2, 3), keepdim=True)
    found: Tensor = (middle + (x - middle) * contrast).clamp(0, 1)
    return found


def _erase(x: Tensor, most: float, random: np.random.Generator, blank: Tensor) -> Tensor:
    """A rectangle of some pictures becomes blank, so that no single part decides (Zhong et al., 2020)."""
    count, _, height, width = x.shape
    area = random.uniform(0, most, count) * (random.random(count) < ERASED)
    stretch = np.exp(random.uniform(-1, 1, count) * np.log(LONGEST) / 2)
    inside = rectangle(height, width, area, stretch, random.random((2, count)))
    return torch.where(torch.from_numpy(inside)[:, None], blank[:, None, None].to(x.dtype), x)


def rectangle(
    height: int, width: int, area: NDArray[np.float64], stretch: NDArray[np.float64], place: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Which pixels lie in a rectangle of that share of the area, as much taller and narrower as `stretch` says, its
    middle at `place` (from 0 to 1, down and across). One for each picture: N Y X."""
    side = np.sqrt(area)
    insides = []
    for length, part, middle in ((height, side * stretch, place[0]), (width, side / stretch, place[1])):
        pixels = np.arange(length) + 0.5
        insides.append(np.abs(pixels - length * middle[:, None]) < length * part[:, None] / 2)
    found: NDArray[np.bool_] = insides[0][:, :, None] & insides[1][:, None, :]
    return found


def _numbers(values: NDArray[np.float64], like: Tensor) -> Tensor:
    return torch.from_numpy(values).to(like.dtype)
