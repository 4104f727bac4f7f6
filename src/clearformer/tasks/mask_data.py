"""The [data] section of segmentation: pictures beside masks, read, counted and shared out."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clearformer.data.file_facts import scan
from clearformer.data.readers.mask_classes import Kind, guess_kind, numbers_of
from clearformer.data.readers.mask_files import LARGEST, MaskedPicture
from clearformer.data.readers.mask_sets import MaskPairs, read_masked
from clearformer.data.readers.pictures import PictureError, Pixels
from clearformer.folder.preprocessing import MaskFacts
from clearformer.inference.segmenter import fitted
from clearformer.tasks.data_files import DataFiles, file_names, folder_of


@dataclass(frozen=True, kw_only=True)
class MaskData(DataFiles):
    """A folder or archive of pictures beside masks, or an .npz file. `masks.zip#train` is one part of an archive."""

    train: str = file_names("pictures beside masks")  # two folders images and masks, x.png beside x_mask.png, or a zip
    dev: str = file_names()  # pictures to choose the best checkpoint by; empty: some of train
    test: str = file_names()  # pictures for the end
    hold_out: int = 200  # pictures, where there is no dev; at most a fifth
    # whether a mask's numbers are things (1, 2, 3 …) or classes; empty: as the masks look
    kind: Literal["", "instances", "classes"] = ""
    classes: tuple[str, ...] = ()  # names of the numbers in order; of instances, the one name that all have
    void: int | None = None  # classes: the number of pixels that have none, as 255 in Pascal VOC
    size: int = 128  # pixels on each side of the crops that are learned from and of the tiles that are read
    channels: int = 0  # 1 or 3; 0: as the first picture has
    stretch: bool = False  # spread each picture's brightness over the whole range first
    flip: bool = True  # augmentation: mirror every second one
    turn: bool = False  # augmentation: turn by quarters
    scale: float = 1.25  # augmentation: up to so many times larger or smaller
    light: float = 0.0  # augmentation: other brightness, contrast and gamma, up to so much
    invert: float = 0.0  # augmentation: dark for light in this share of the pictures
    unit: float = 16.0  # instances: pixels that an offset of one stands for
    reach: int = 2  # instances: how many pixels apart votes for one centre lie
    votes: int = 8  # instances: as many a centre has at least
    smallest: int = 12  # instances: with fewer pixels they are left out

    def __post_init__(self) -> None:
        if self.scale < 1:
            raise ValueError(f"data.scale is at least 1, and 1 keeps the size, not {self.scale}")
        if not 0 <= self.invert <= 1 or not 0 <= self.light <= 1:
            raise ValueError("data.light and data.invert are between 0 and 1")
        if self.size < 1 or self.channels not in (0, 1, 3):
            raise ValueError(f"data.size is at least 1 and data.channels 0, 1 or 3: {self.size}, {self.channels}")


@dataclass(frozen=True, kw_only=True)
class HeldMasks:
    """Pictures as the network reads them, with their masks: instances, or places among the labels."""

    pixels: list[Pixels]
    masks: list[NDArray[np.uint16]]


@dataclass(frozen=True, kw_only=True)
class MaskParts:
    """What is learned from, what is held out, and what the numbers of the masks are."""

    train: list[MaskedPicture]
    dev: list[MaskedPicture]
    kind: Kind
    labels: tuple[str, ...]
    numbers: tuple[int, ...]
    void: int | None
    files: list[dict[str, Any]]


def check(data: MaskData, workspace: Any) -> None:
    """Refuse data that does not name what training needs, or names files that are not there."""
    if not data.train:
        raise ValueError("the recipe's [data] section needs train: pictures beside masks")
    folder = folder_of(data, workspace.base)
    for name in ("train", "dev"):
        value = getattr(data, name)
        if value and not (path := folder / value.partition("#")[0]).exists():
            raise ValueError(f"{path} does not exist; data.{name} names it")


def parts_of(data: MaskData, base: Path) -> MaskParts:
    """Read everything once."""
    folder = folder_of(data, base)
    train, layout = read_masked(folder / data.train)
    if not train:
        raise ValueError(f"{folder / data.train} holds no pictures with masks in this part: name another")
    dev = read_masked(folder / data.dev)[0] if data.dev else []
    if not data.dev:
        order = np.random.default_rng(1).permutation(len(train))
        held = set(order[: min(data.hold_out, len(train) // 5)].tolist())
        dev = [one for place, one in enumerate(train) if place in held]
        train = [one for place, one in enumerate(train) if place not in held]
    if not dev:
        raise ValueError(
            f"{folder / (data.dev or data.train)} leaves nothing to choose the best checkpoint by: add some"
        )
    kind = data.kind or kind_of(train, layout)
    numbers: tuple[int, ...] = ()
    if kind == "classes":
        numbers = tuple(one for one in numbers_of(one.mask for one in train) if one != data.void)
        if layout is not None and layout.classes.names:
            numbers = tuple(sorted({*numbers, *layout.classes.names} - {data.void}))
    return MaskParts(
        train=train,
        dev=dev,
        kind=kind,
        labels=_labels(data, kind, numbers, layout),
        numbers=numbers,
        void=data.void,
        files=_files(folder, data),
    )


def kind_of(pictures: Sequence[MaskedPicture], layout: MaskPairs | None) -> Kind:
    """One file per instance says it; otherwise the masks do."""
    if layout is not None and (layout.one_each or layout.classes.names):
        return "instances" if layout.one_each else "classes"
    return guess_kind([one.mask for one in pictures[:100]]).kind


def _labels(data: MaskData, kind: Kind, numbers: tuple[int, ...], layout: MaskPairs | None) -> tuple[str, ...]:
    """A name for each class, or the one name of all instances."""
    if kind == "instances":
        if len(data.classes) > 1:
            raise ValueError(f"data.classes names {len(data.classes)} classes, and instances have one name")
        return data.classes or ("instance",)
    if data.classes and len(data.classes) != len(numbers):
        shown = ", ".join(map(str, numbers[:12]))
        raise ValueError(
            f"data.classes has {len(data.classes)} names, and the masks have {len(numbers)} numbers ({shown}); give as "
            "many, or say with data.void which number is no class"
        )
    known = layout.classes.names if layout is not None else {}
    return data.classes or tuple(known.get(number, str(number)) for number in numbers)


def held_of(pictures: Sequence[MaskedPicture], channels: int, facts: MaskFacts) -> HeldMasks:
    """Pictures as the network reads them. Class numbers become places among the labels, and what is void the next."""
    pixels = [fitted(one.pixels, channels, stretch=facts.stretch) for one in pictures]
    if facts.kind == "instances":
        return HeldMasks(pixels=pixels, masks=[one.mask for one in pictures])
    return HeldMasks(pixels=pixels, masks=[_places(one, facts) for one in pictures])


def _places(one: MaskedPicture, facts: MaskFacts) -> NDArray[np.uint16]:
    table = np.full(LARGEST + 1, LARGEST, dtype=np.uint16)
    table[list(facts.numbers)] = np.arange(len(facts.numbers))
    if facts.void is not None:
        table[facts.void] = len(facts.numbers)
    places = table[one.mask]
    if (places == LARGEST).any():
        strange = int(one.mask[places == LARGEST][0])
        known = ", ".join(map(str, facts.numbers[:12]))
        raise PictureError(f"{one.path}: its mask has the number {strange}, and known are {known}; correct the mask")
    return places


def masks_to_test(files: Sequence[Path], channels: int, facts: MaskFacts) -> HeldMasks:
    """A test set, for a model that was trained before."""
    if len(files) != 1:
        raise ValueError(f"{files[0]} and {len(files) - 1} more: give one folder or archive of pictures beside masks")
    path = files[0]
    if path.suffix == ".npz":
        path = path.with_name(f"{path.name}#test")
    found, _ = read_masked(path)
    if not found:
        raise ValueError(f"{files[0]} holds no pictures with masks to test with: give pictures beside masks")
    return held_of(found, channels, facts)


def _files(folder: Path, data: MaskData) -> list[dict[str, Any]]:
    """What the shards are made from."""
    found = []
    for name in filter(None, (data.train, data.dev)):
        path = folder / name.partition("#")[0]
        inside = [path] if path.is_file() else [one for one in sorted(path.rglob("*")) if one.is_file()]
        found += [{"name": str(one.relative_to(folder)), "part": name, "sha256": scan(one).sha256} for one in inside]
    return found
