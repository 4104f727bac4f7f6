"""From a folder of pictures with boxes to a model that finds such objects: every choice, each with its reason."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from clearformer.data.box_doctor import BoxReport, WrongAnnotation, examine_boxes
from clearformer.data.readers.box_files import PARTS, find_layout, find_root, read_boxed
from clearformer.data.readers.boxes import BoxedPicture, BoxError, OnRefused, load, stop
from clearformer.tasks.task import Automatic, Choice, Chosen

ALSO = {"train": ("train", "training"), "dev": ("valid", "val", "dev", "validation"), "test": ("test", "testing")}
SIZES = (128, 192, 256, 320)  # pixels on each side that an ordinary computer trains with
SEEN = 14  # pixels that a small object should have where the network sees it
SMALL = 10  # per cent of the objects that are smaller than what is taken for a small one
VIEWS = 20_000  # of pictures, all passes together


def recognise(files: Sequence[Path]) -> str | None:
    """A folder with annotations in the layout of VOC or COCO, or with such parts; or COCO's file."""
    if len(files) != 1:
        return None
    parts = find_parts(files[0])
    kind = find_layout(Path(str(parts["train"]))) if parts else None
    named = f" in {', '.join(parts)}" if parts and len(parts) > 1 else ""
    return f"pictures with boxes ({kind}){named}" if kind else None


def find_parts(path: Path) -> dict[str, str]:
    """What a folder calls train, dev and test: folders, files or VOC's lists; the whole as train where it has none."""
    if path.is_file() and find_layout(path):
        path = find_root(path)
    if not path.is_dir() and path.suffix.lower() == ".json":
        return {"train": str(path)} if find_layout(path) else {}
    lists = path / "ImageSets" / "Main"
    for base, ending in ((lists, ".txt"), (path, ".json"), (path / "annotations", ".json"), (path, "")):
        found = {
            part: str(base / f"{name}{ending}")
            for part, names in ALSO.items()
            for name in reversed(names)
            if find_layout(base / f"{name}{ending}") is not None
        }
        if "train" in found:
            return found
    return {"train": str(path)} if find_layout(path) else {}


def examine(files: Sequence[Path]) -> BoxReport:
    """Every picture and every box of every part."""
    return _examine(find_parts(files[0]))


def choose(files: Sequence[Path], out: Path) -> Chosen:
    """A recipe; what has no parts of its own is divided by its pictures' content."""
    parts = find_parts(files[0].resolve())
    report = _examine(parts)
    if report.fatal:
        first = next(one for one in report.findings if one.fatal)
        raise BoxError(f"{first.place}: {first.what}")
    if len(parts) == 1:
        parts = {part: f"{parts['train']}#{part}" for part in PARTS}
    read = _read(parts, empty="give more pictures, or folders train, valid and test")
    shares = _sizes(read["train"])
    small = float(np.percentile(shares, SMALL))
    size = next((side for side in SIZES if side * small >= SEEN), SIZES[-1])
    patch = 16 if size >= 192 else 8
    batch = 8
    steps = VIEWS // batch
    recipe: dict[str, Any] = {
        "task": "detection",
        "name": run_name(files),
        "data": {**parts, "faulty": "leave-out", "size": size, "views": {"symmetry": "mirror", "paste": 2}},
        "model": {
            "family": "vit", "dim": 128, "hidden_dim": 384, "layers": 6, "attention": {"heads": 4},
            "front": {"patch": patch, "stem": "convolution", "class_token": False}, "head": {"helper": True},
        },
        "training": {
            "steps": steps, "save_every": steps // 10, "validate_every": steps // 10, "log_every": 25,
            "batch_tokens": batch, "precision": "bfloat16",
            "schedule": {"kind": "cosine", "peak": 3e-3, "warmup": 0.05},
            "optimiser": {"kind": "muon", "clip": 1.0},
        },
    }  # fmt: skip
    counts = ", ".join(f"{len(some):,} pictures in {part}" for part, some in read.items())
    own = "as the folder has them" if "#" not in parts["train"] else "in tenths, by content: copies stay together"
    choices = [
        Choice(what="parts", value=counts, reason=own),
        Choice(
            what="size",
            value=f"{size} × {size}",
            reason=f"all of a picture, stretched; nine of ten objects then have {size * small:.0f} pixels or more",
        ),
        Choice(
            what="queries",
            value=f"{(size // patch) ** 2}",
            reason=f"each patch of {patch} × {patch} may name one object, and says how far away its centre is",
        ),
        Choice(what="start", value="a convolutional stem", reason="few pictures are enough for edges and spots"),
        Choice(what="views", value="mirrored, cropped", reason="what stands on its head may be something else"),
        Choice(what="helper", value="a second head", reason="several patches learn from an object, one speaks for it"),
        Choice(what="steps", value=f"{steps:,}", reason=f"{VIEWS:,} views; the best on the development part is kept"),
    ]
    return Chosen(recipe=recipe, choices=choices, report=report.to_text())


def run_name(files: Sequence[Path]) -> str:
    """The folder's own name."""
    return files[0].resolve().stem or "boxes"


def example(run: Path) -> str:
    """A picture of the test part, or of any, where there is none."""
    from clearformer.foundation.settings import read_toml

    data = read_toml(run / "recipe.toml")["data"]
    return read_boxed(run / (data.get("test") or data["train"]))[0].path


def _examine(parts: Mapping[str, str]) -> BoxReport:
    """With every annotation that cannot be read, not only the first."""
    wrong: list[WrongAnnotation] = []
    read = _read(parts, refused=lambda place, error: wrong.append(WrongAnnotation(place, error)))
    return examine_boxes(read, wrong)


def _read(
    parts: Mapping[str, str], *, empty: str = "give more pictures", refused: OnRefused = stop
) -> dict[str, list[BoxedPicture]]:
    read: dict[str, list[BoxedPicture]] = {}
    for part, name in parts.items():
        try:
            read[part] = read_boxed(name, refused)
        except BoxError as error:
            raise BoxError(f"{error}; {empty}" if "#" in name else str(error)) from None
    return read


def _sizes(some: Sequence[BoxedPicture]) -> list[float]:
    """Of every object: the side of a square as large, as a share of the picture's."""
    shares: list[float] = []
    for one in some:
        pixels, here = load(one)
        height, width = pixels.shape[:2]
        sides = ((here.boxes[:, 2:] - here.boxes[:, :2]) / np.array([width, height])).clip(1e-6)
        shares += np.sqrt(sides.prod(axis=1)).tolist()
    return shares


AUTOMATIC = Automatic(recognise=recognise, choose=choose, examine=examine, name=run_name, example=example)
