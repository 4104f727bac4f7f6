"""What the numbers of masks mean: classes.txt, and whether numbers are instances or classes."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from clearformer.data.readers.mask_files import Colour, Mask
from clearformer.data.readers.pictures import PictureError

CLASSES = "classes.txt"
MOST_CLASSES = 256  # more numbers than this are instances
IN_ONE_PIECE = 0.8  # of the regions, at least: then each number is one thing
MOST_BYTES = 1 << 20

Kind = Literal["instances", "classes"]


@dataclass(frozen=True, kw_only=True)
class MaskClasses:
    """The names in classes.txt: line 1 is number 0, or, where the first line gives a number or colour, as it says."""

    names: dict[int, str] = field(default_factory=dict)
    colours: dict[Colour, int] = field(default_factory=dict)


def read_classes(path: Path) -> MaskClasses:
    """A name per line, perhaps with its number or colour behind it: `cell`, `cell 3`, `cell #ff0000`."""
    try:
        content = path.open("rb").read(MOST_BYTES + 1)
        lines = content.decode("utf-8-sig").splitlines()
    except OSError as error:
        raise PictureError(f"{path} cannot be read ({error.strerror or error}): check the file") from error
    except UnicodeDecodeError:
        raise PictureError(f"{path} is not UTF-8: save it so") from None
    names: dict[int, str] = {}
    colours: dict[Colour, int] = {}
    for place, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        *words, last = line.split()
        colour = re.fullmatch(r"#([0-9a-fA-F]{6})", last)
        number = int(last) if words and last.isdecimal() and len(last) < 6 else len(names)
        name = " ".join(words) if words and (colour or last.isdecimal()) else line.strip()
        if number in names or name in names.values():
            raise PictureError(f"{path}:{place} names {name} or its number {number} a second time: keep one of them")
        names[number] = name
        if colour:
            red, green, blue = bytes.fromhex(colour[1])
            colours[red, green, blue] = number
    if not names:
        raise PictureError(f"{path} has no classes: write one per line, or remove it")
    return MaskClasses(names=names, colours=colours)


@dataclass(frozen=True, kw_only=True)
class KindGuess:
    """What the numbers are taken for, and why."""

    kind: Kind
    why: str


def guess_kind(masks: Sequence[Mask]) -> KindGuess:
    """Instances if nearly every number of every mask is one region and pictures have different numbers of them."""
    numbers: set[int] = set()
    regions = pieces = 0
    most: set[int] = set()
    for mask in masks:
        here = np.unique(mask[mask > 0])
        numbers.update(here.tolist())
        most.add(len(here))
        regions += len(here)
        pieces += sum(_in_one_piece(mask == number) for number in here[:MOST_CLASSES])
    checked = max(1, sum(min(MOST_CLASSES, len(np.unique(mask[mask > 0]))) for mask in masks))
    share = pieces / checked
    if len(numbers) > MOST_CLASSES:
        return KindGuess(kind="instances", why=f"{len(numbers):,} different numbers are too many for classes")
    if len(numbers) > 2 and share >= IN_ONE_PIECE and len(most) > 1:
        return KindGuess(kind="instances", why=f"{share:.0%} of the numbered regions are in one piece")
    shown = ", ".join(map(str, sorted(numbers)[:8])) or "no number"
    return KindGuess(kind="classes", why=f"the masks use the same few numbers ({shown}) for many regions")


def _in_one_piece(region: "np.typing.NDArray[np.bool_]") -> bool:
    from scipy.ndimage import label

    return int(label(region, np.ones((3, 3)))[1]) == 1


def numbers_of(masks: Iterable[Mask]) -> tuple[int, ...]:
    """All numbers that occur, in order."""
    found: set[int] = set()
    for mask in masks:
        found.update(np.unique(mask).tolist())
    return tuple(sorted(found))
