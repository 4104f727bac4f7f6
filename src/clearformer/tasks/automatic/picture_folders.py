"""From a folder with one subfolder per class to a picture classifier: every choice, each with its reason."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from clearformer.data.class_split import hold_out_by_class
from clearformer.data.readers.picture_sets import class_folders
from clearformer.data.readers.pictures import PictureError, read_picture
from clearformer.foundation import storage
from clearformer.tasks.automatic.picture_doctor import PictureReport, SeenPicture, examine_pictures, parts_of
from clearformer.tasks.task import Automatic, Choice, Chosen

LARGEST = 64  # pixels on each side that an ordinary computer trains with
HELD_OUT_SHARE = 10
MANY = 20_000  # pictures that are worth a larger model
ACROSS = 8  # patches, at the most: a row of 64 is trained quickly
LEAST_STEPS = 600  # fewer leave a model of a few hundred pictures half-learned


def recognise(files: Sequence[Path]) -> str | None:
    """A folder whose subfolders hold pictures, or one with such a folder for each part."""
    if len(files) != 1 or not files[0].is_dir():
        return None
    parts = parts_of(files[0])
    classes = class_folders(parts["train"])
    divided = f", divided into {' and '.join(parts)}" if len(parts) > 1 else ""
    return f"pictures in {len(classes)} classes, one per subfolder{divided}" if len(classes) > 1 else None


def examine(files: Sequence[Path]) -> PictureReport:
    """Read every picture once: what cannot be read, what stands twice, classes with few pictures."""
    [folder] = files
    return examine_pictures(folder)


def choose(files: Sequence[Path], out: Path) -> Chosen:
    """A recipe for a folder of classes; what has no part of its own is held out, a tenth for each."""
    [folder] = files
    report = examine_pictures(folder)
    if report.fatal:
        worst = next(finding for finding in report.findings if finding.fatal)
        raise PictureError(f"{worst.place}: {worst.detail}")
    counts = _link(report, out / "data")
    first = read_picture(report.seen[0].path)
    side, patch = _sizes(report.seen)
    large, batch = counts["train"] >= MANY, 64
    recipe = {
        "task": "picture-classification",
        "name": run_name(files),
        "data": {
            "train": "data/train", "dev": "data/dev", "test": "data/test", "size": side, "channels": first.shape[2],
            "shift": max(1, side // 14), "zoom": 0.1, "rotate": 5.0, "flip": False,
        },
        **_model(patch, large=large),
        "training": _training(max(LEAST_STEPS, counts["train"] * 20 // batch), batch),
    }  # fmt: skip
    return Chosen(recipe=recipe, choices=_choices(counts, parts_of(folder), recipe), report=report.to_text())


def _sizes(seen: Sequence[SeenPicture]) -> tuple[int, int]:
    """As many pixels a side as three quarters of the pictures have, within what is trained quickly; and of a patch."""
    usual = np.quantile([min(one.height, one.width) for one in seen], 0.25)
    return in_patches(int(min(LARGEST, max(ACROSS, usual))))


def in_patches(side: int) -> tuple[int, int]:
    """The largest side up to this one that patches fill, and how large those are: a power of two, as stems want it."""
    patch = max(2, 1 << (-(-side // ACROSS) - 1).bit_length())
    return side - side % patch, patch


def _model(patch: int, *, large: bool) -> dict[str, Any]:
    dim, layers = (192, 6) if large else (128, 4)
    return {
        "model": {
            "family": "vit", "dim": dim, "hidden_dim": 2 * dim, "layers": layers, "attention": {"heads": dim // 32},
            "front": {"patch": patch, "stem": "convolution", "class_token": False},
            "head": {"pool": "weighted"}, "dropout": {"residual": 0.1},
        },
        "objective": {"smoothing": 0.1},
    }  # fmt: skip


def _training(steps: int, batch: int) -> dict[str, Any]:
    return {
        "steps": steps, "save_every": max(25, steps // 10), "validate_every": max(25, steps // 10), "log_every": 25,
        "batch_tokens": batch, "replicas": 2, "precision": "bfloat16",
        "schedule": {"kind": "cosine", "peak": 3e-3, "warmup": 0.1},
        "optimiser": {"kind": "muon", "clip": 1.0},
    }  # fmt: skip


def _choices(counts: Mapping[str, int], parts: Mapping[str, Path], recipe: Mapping[str, Any]) -> list[Choice]:
    side, model = recipe["data"]["size"], recipe["model"]
    patch = model["front"]["patch"]
    own = [part for part in ("dev", "test") if part in parts]
    reason = "the same share of every class; no picture, nor a near copy of it, is in two parts"
    if own:
        reason = f"the folder has its own part for {' and '.join(own)}" + ("" if len(own) == 2 else f"; {reason}")
    return [
        Choice(
            what="held out",
            value=f"{counts['dev']:,} pictures for development, {counts['test']:,} for the test",
            reason=reason,
        ),
        Choice(what="size", value=f"{side} × {side}", reason="the middle square of each picture, quick to train"),
        Choice(
            what="patches",
            value=f"{patch} × {patch} pixels",
            reason=f"{(side // patch) ** 2} patches are one row; convolutions before them help where pictures are few",
        ),
        Choice(
            what="augmentation",
            value="moved, turned and zoomed a little",
            reason="no class depends on it; add data.flip=true if none depends on left and right either",
        ),
        Choice(
            what="model",
            value=f"{model['layers']} layers, {model['dim']} wide",
            reason="pictures from scratch need a small model",
        ),
        Choice(
            what="steps",
            value=f"{recipe['training']['steps']:,}",
            reason=f"about {_passes(counts, recipe):,} passes; the best on the development part is kept",
        ),
    ]


def _passes(counts: Mapping[str, int], recipe: Mapping[str, Any]) -> int:
    seen: int = recipe["training"]["steps"] * recipe["training"]["batch_tokens"]
    return round(seen / max(1, counts["train"]))


def run_name(files: Sequence[Path]) -> str:
    """The folder's own name."""
    return files[0].resolve().name or "pictures"


def example(run: Path) -> str:
    """A picture of the test part."""
    return str(next(path for path in sorted((run / "data" / "test").rglob("*.*")) if path.is_file()))


def _link(report: PictureReport, folder: Path) -> Counter[str]:
    """Link the pictures into train, dev and test; where there is no such part, a tenth of each class is held out.

    A picture and its copies stay in one part, or the test would measure memory.
    """
    storage.discard(folder)  # of a start that went wrong, perhaps with other pictures
    part_of = {number: one.part for number, one in enumerate(report.seen)}
    given = set(part_of.values())
    for part, share in (("test", 1 / HELD_OUT_SHARE), ("dev", 1 / (HELD_OUT_SHARE - 1))):
        if part in given:
            continue
        rest = [number for number, where in part_of.items() if where == "train"]
        keys, labels = [report.copies[number] for number in rest], [report.seen[number].label for number in rest]
        for number, out in zip(rest, hold_out_by_class(keys, labels, share=share), strict=True):
            part_of[number] = part if out else "train"
    counts: Counter[str] = Counter()
    for number, one in enumerate(report.seen):
        link = folder / part_of[number] / one.label / one.path.name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(one.path.resolve())
        counts[part_of[number]] += 1
    return counts


AUTOMATIC = Automatic(recognise=recognise, choose=choose, examine=examine, name=run_name, example=example)
