"""Pictures beside masks: which mask belongs to which picture, in the layouts that people have.

- two folders, `images` and `masks` (or `labels`, `trimaps` …), with files of the same name; a folder of that name in
  `masks` holds one file per instance
- one folder, where `x_mask.png` (or `x_label.png` …) is the mask of `x.png`
- one folder per picture, with `images` and `masks` inside, the masks one file per instance, as in the Data Science Bowl
- a zip of any of these, and an .npz file with `images`, `instances` and `split`
"""

import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from clearformer.data.readers.mask_classes import CLASSES, MaskClasses, read_classes
from clearformer.data.readers.mask_files import LARGEST, MaskedPicture, join_instances, read_mask
from clearformer.data.readers.pictures import ENDINGS, PictureError, read_picture
from clearformer.foundation import storage

PICTURES = ("images", "image", "pictures", "imgs", "img", "JPEGImages")
MASKS = (
    "masks", "mask", "labels", "label", "instances", "trimaps", "annotations", "segmentations", "gt",
    "SegmentationClass", "SegmentationObject",
)  # fmt: skip
ENDS = ("_mask", "_masks", "_label", "_labels", "_instances", "_seg", "_gt", "-mask", "-label", ".mask")
MASK_ENDINGS = (".png", ".tif", ".tiff", ".bmp", ".gif")
MOST_BYTES = 4 << 30  # of an archive, unpacked
MOST_FILES = 1_000_000
PARTS = {"train": ("train",), "dev": ("dev", "val", "validation"), "test": ("test",)}

TENTHS = {"train": range(7), "dev": range(7, 8), "test": range(8, 10)}  # of what has no parts of its own


@dataclass(frozen=True, kw_only=True)
class MaskPair:
    """A picture and its mask: one file, or one for each instance."""

    picture: Path
    masks: tuple[Path, ...]
    one_each: bool = False

    def read(self, classes: MaskClasses) -> MaskedPicture:
        pixels = read_picture(
            self.picture, upright=False
        )  # as they lie in the file, where the mask was drawn over them
        mask = join_instances(self.masks) if self.one_each else read_mask(self.masks[0], classes.colours)
        return MaskedPicture(pixels=pixels, mask=mask, path=str(self.picture))


@dataclass(frozen=True, kw_only=True)
class MaskPairs:
    """What a folder holds: pairs, what stands alone, and what the numbers are called."""

    pairs: list[MaskPair]
    without_mask: list[Path] = field(default_factory=list)
    without_picture: list[Path] = field(default_factory=list)
    classes: MaskClasses = field(default_factory=MaskClasses)

    @property
    def one_each(self) -> bool:
        """Whether every instance has a file of its own, which says that numbers are instances."""
        return any(pair.one_each for pair in self.pairs)

    def refuse_lonely(self) -> None:
        """A picture without a mask is not learned from in silence, nor is a mask forgotten."""
        if self.without_mask:
            raise PictureError(f"{self.without_mask[0]} has no mask: draw one, empty if it shows nothing, or remove it")
        if self.without_picture:
            raise PictureError(f"{self.without_picture[0]} is the mask of no picture: add that, or remove the mask")


def find_pairs(folder: Path) -> MaskPairs | None:
    """The pairs of a folder, or None where it is no such folder."""
    inside = [path for path in sorted(folder.iterdir()) if not path.name.startswith((".", "__"))]
    folders = {path.name: path for path in inside if path.is_dir()}
    pictures = next((folders[name] for name in PICTURES if name in folders), None)
    masks = next((folders[name] for name in MASKS if name in folders), None)
    classes = next((read_classes(path) for path in _classes_files(folder, masks) if path.is_file()), MaskClasses())
    if pictures and masks:
        return _two_folders(pictures, masks, classes)
    if not any(path.is_file() and path.suffix.lower() in ENDINGS for path in inside):
        return _folder_each(list(folders.values()), classes)
    return _beside_each_other([path for path in inside if path.is_file()], classes)


def _classes_files(folder: Path, masks: Path | None) -> list[Path]:
    return [folder / CLASSES, *([masks / CLASSES] if masks else [])]


def _two_folders(pictures: Path, masks: Path, classes: MaskClasses) -> MaskPairs:
    by_stem = {_mask_stem(path, always=True): path for path in _files(masks, MASK_ENDINGS)}
    by_stem |= {path.name: path for path in sorted(masks.iterdir()) if path.is_dir()}
    pairs, alone = [], []
    for path in _files(pictures, ENDINGS):
        mask = by_stem.pop(path.stem, None)
        if mask is None:
            alone.append(path)
        elif mask.is_dir():
            pairs.append(MaskPair(picture=path, masks=tuple(_files(mask, MASK_ENDINGS)), one_each=True))
        else:
            pairs.append(MaskPair(picture=path, masks=(mask,)))
    return MaskPairs(pairs=pairs, without_mask=alone, without_picture=sorted(by_stem.values()), classes=classes)


def _beside_each_other(files: list[Path], classes: MaskClasses) -> MaskPairs | None:
    masks = {stem: path for path in files if (stem := _mask_stem(path)) and path.suffix.lower() in MASK_ENDINGS}
    if not masks:
        return None
    taken = set(masks.values())
    pictures = [path for path in files if path.suffix.lower() in ENDINGS and path not in taken]
    pairs = [MaskPair(picture=path, masks=(masks.pop(path.stem),)) for path in pictures if path.stem in masks]
    paired = {pair.picture for pair in pairs}
    alone = [path for path in pictures if path not in paired]
    return MaskPairs(pairs=pairs, without_mask=alone, without_picture=sorted(masks.values()), classes=classes)


def _folder_each(folders: list[Path], classes: MaskClasses) -> MaskPairs | None:
    pairs, without_mask = [], []
    for folder in folders:
        pictures = list(_files(folder / "images", ENDINGS))
        masks = tuple(_files(folder / "masks", MASK_ENDINGS))
        if len(pictures) == 1 and masks:
            pairs.append(MaskPair(picture=pictures[0], masks=masks, one_each=True))
        else:
            without_mask += pictures
    return MaskPairs(pairs=pairs, without_mask=without_mask, classes=classes) if pairs else None


def _files(folder: Path, endings: tuple[str, ...]) -> Iterator[Path]:
    if not folder.is_dir():
        return iter(())
    found = (path for path in sorted(folder.iterdir()) if path.suffix.lower() in endings and path.is_file())
    return (path for path in found if not path.name.startswith("."))


def _mask_stem(path: Path, *, always: bool = False) -> str:
    """The name of the picture that a mask belongs to. always: it is a mask, whatever its name ends with."""
    for end in ENDS:
        if path.stem.endswith(end) and len(path.stem) > len(end):
            return path.stem.removesuffix(end)
    return path.stem if always else ""


@contextmanager
def opened_pairs(path: Path) -> Iterator[MaskPairs]:
    """The pairs of a folder, or of a zip file, which is unpacked aside for as long as they are read."""
    if path.is_dir():
        yield _or_refuse(path, find_pairs(path))
        return
    with tempfile.TemporaryDirectory(prefix="clearformer-masks-") as aside:
        try:
            _unpack(path, Path(aside))
            yield _or_refuse(path, find_pairs(Path(aside)))
        except PictureError as error:  # names a file that will be gone
            raise PictureError(str(error).replace(f"{aside}/", f"{path}: ")) from error


def _or_refuse(path: Path, found: MaskPairs | None) -> MaskPairs:
    if found is None or not (found.pairs or found.without_mask or found.without_picture):
        raise PictureError(
            f"{path} holds no pictures beside masks: give two folders, images and masks, with files of the same name, "
            "or x.png beside x_mask.png"
        )
    return found


def _unpack(path: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if len(members) > MOST_FILES or sum(member.file_size for member in members) > MOST_BYTES:
                raise PictureError(f"{path} unpacks to more than {MOST_BYTES:,} bytes or {MOST_FILES:,} files; refused")
            archive.extractall(folder)  # leaves out "..", and what zipfile reads is never more than it announces
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        if isinstance(error, PictureError):
            raise
        raise PictureError(f"{path} is not a whole zip file ({error}): get it anew") from error


def named(pair: MaskPair, source: Path) -> str:
    """How a picture is called in messages: what an archive holds is no file of its own."""
    return str(pair.picture) if source.is_dir() else f"{source}: {pair.picture.name}"


def read_arrays(path: Path, part: str = "") -> list[MaskedPicture]:
    """The pictures of a part, or all, of an .npz file: images N Y X (C), instances N Y X, perhaps split, N words."""
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(member.file_size for member in archive.infolist()) > MOST_BYTES:
                raise PictureError(f"{path} unpacks to more than {MOST_BYTES:,} bytes; refused")
        with np.load(path, allow_pickle=False) as stored:
            arrays: dict[str, Any] = {name: stored[name] for name in ("images", "instances", "split") if name in stored}
    except PictureError:
        raise
    except Exception as error:  # whatever a damaged archive makes the library say
        reason = str(error).split("\n")[0][:120] or type(error).__name__
        raise PictureError(f"{path} cannot be read as arrays ({reason}): get it anew") from error
    if "images" not in arrays or "instances" not in arrays:
        raise PictureError(f"{path} has no arrays of the names images and instances: give pictures beside masks")
    images, masks = arrays["images"], arrays["instances"]
    if images.dtype != np.uint8 or images.ndim not in (3, 4) or masks.shape != images.shape[:3]:
        raise PictureError(
            f"{path} should have images of bytes and instances of the same sizes, not {images.shape} of {images.dtype} "
            f"and {masks.shape}"
        )
    if masks.dtype.kind not in "ui" or masks.min(initial=0) < 0 or masks.max(initial=0) > LARGEST:
        raise PictureError(f"{path} has instances that are no numbers from 0 to {LARGEST:,}: number them anew")
    split = arrays.get("split", np.full(len(images), "train"))
    if split.shape != (len(images),):
        raise PictureError(f"{path} has {split.shape} names of parts for {len(images)} pictures: give one for each")
    chosen = np.flatnonzero(np.isin(split.astype(str), PARTS[part])) if part else np.arange(len(images))
    whole = images if images.ndim == 4 else images[..., None]
    return [
        MaskedPicture(pixels=whole[number], mask=masks[number].astype(np.uint16), path=f"{path}#{number}")
        for number in chosen.tolist()
    ]


def read_masked(path: str | Path) -> tuple[list[MaskedPicture], MaskPairs | None]:
    """Every picture with its mask, of a folder or archive, and how they lie there. `masks.zip#test`: one part of it.

    An .npz file says which part a picture is of; elsewhere the content decides, in tenths.
    """
    whole, _, part = str(path).partition("#")
    if part and part not in PARTS:
        raise PictureError(f"{path} names the part {part!r}: known are {', '.join(PARTS)}")
    file = Path(whole)
    if not file.exists():
        raise PictureError(f"{file} does not exist: check the name")
    if file.suffix.lower() == ".npz":
        return read_arrays(file, part), None
    with opened_pairs(file) as found:
        found.refuse_lonely()
        chosen = [pair for pair in found.pairs if not part or _tenth(pair.picture) in TENTHS[part]]
        return [replace(pair.read(found.classes), path=named(pair, file)) for pair in chosen], found


def _tenth(picture: Path) -> int:
    """Decided by the content, so that the same picture under two names is in one part."""
    return int(storage.sha256(picture)[:8], 16) % 10
