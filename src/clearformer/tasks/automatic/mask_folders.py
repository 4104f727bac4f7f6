"""From pictures beside masks to a network that draws such masks: every choice, each with its reason."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from clearformer.data.class_split import hold_out_by_class
from clearformer.data.readers.mask_classes import CLASSES
from clearformer.data.readers.mask_sets import PARTS, MaskPair, find_pairs, opened_pairs
from clearformer.data.readers.pictures import PictureError
from clearformer.foundation import storage
from clearformer.tasks.automatic.mask_doctor import MaskReport, examine_masks
from clearformer.tasks.task import Automatic, Choice, Chosen

HELD_OUT_SHARE = 10
TILE = 128  # pixels on each side: large enough to see a thing and its neighbours, small enough to train
BATCH = 8
PASSES = 60
ARCHIVES = (".npz", ".zip")


def recognise(files: Sequence[Path]) -> str | None:
    """A folder or archive of pictures beside masks."""
    if len(files) != 1 or not (files[0].is_dir() or files[0].suffix.lower() in ARCHIVES):
        return None
    try:
        if files[0].suffix.lower() == ".npz":
            return "pictures beside masks, as arrays"
        if parts := find_parts(files[0]):
            return f"pictures beside masks in {len(parts)} parts ({', '.join(parts)})"
        with opened_pairs(files[0]) as found:
            return f"{len(found.pairs):,} pictures beside masks" if found.pairs else None
    except PictureError:
        return None


def find_parts(path: Path) -> dict[str, Path]:
    """The subfolders train, dev and test, where each holds pictures beside masks."""
    found: dict[str, Path] = {}
    for part, names in PARTS.items() if path.is_dir() else ():
        for name in names:
            if (path / name).is_dir() and (inside := find_pairs(path / name)) is not None and inside.pairs:
                found.setdefault(part, path / name)
    return found if "train" in found else {}


def examine(files: Sequence[Path]) -> MaskReport:
    """What is wrong with every picture and mask."""
    [path] = files
    return examine_masks(find_parts(path) or {"all": path})


def choose(files: Sequence[Path], out: Path) -> Chosen:
    """A recipe; a tenth is held out for development and a tenth for the test, where there are no parts."""
    [path] = files
    report = examine(files)
    if report.fatal:
        first = next(finding for finding in report.findings if finding.fatal)
        raise PictureError(f"{first.place}: {first.detail}")
    names, held = _share_out(path, out / "data")
    side = 2 ** int(np.log2(max(16, min(TILE, report.shortest))))
    facts = _sizes(report) if report.kind == "instances" else {}
    steps = max(300, min(6000, PASSES * report.pictures // BATCH))
    recipe: dict[str, Any] = {
        "task": "segmentation",
        "name": run_name(files),
        "data": {
            **names, "kind": report.kind, "size": side, "channels": report.channels, "flip": True,
            "stretch": report.channels == 1, "turn": report.kind == "instances", "scale": 1.3, "light": 0.3, **facts,
        },
        "model": {
            "family": "vit", "dim": 96, "hidden_dim": 192, "layers": 4, "attention": {"heads": 3},
            "front": {"patch": 8, "stem": "convolution"}, "head": {"decoder": "convolution", "narrowest": 16},
            "dropout": {"residual": 0.05},
        },
        "training": {
            "steps": steps, "save_every": max(50, steps // 8), "validate_every": max(50, steps // 8),
            "log_every": 25, "batch_tokens": BATCH, "precision": "bfloat16",
            "schedule": {"kind": "cosine", "peak": 3e-3, "warmup": 0.05},
            "optimiser": {"kind": "muon", "clip": 1.0},
        },
    }  # fmt: skip
    return Chosen(recipe=recipe, choices=_choices(report, held, side, facts, steps), report=report.to_text())


def _choices(report: MaskReport, held: str, side: int, facts: dict[str, Any], steps: int) -> list[Choice]:
    what = "each thing by itself" if report.kind == "instances" else f"one of {len(report.counts)} classes per pixel"
    choices = [
        Choice(what="masks", value=what, reason=report.why),
        Choice(what="held out", value=held, reason="the same picture is never in two parts"),
        Choice(
            what="tiles",
            value=f"{side} × {side}",
            reason="learned from in crops, read in overlapping tiles: pictures of any size, nothing cut or scaled",
        ),
    ]
    if facts:
        middle = int(np.median(report.areas))
        choices.append(
            Choice(
                what="smallest",
                value=f"{facts['smallest']} pixels",
                reason=f"half of what nearly all of the {report.things:,} instances have; the median is {middle:,}",
            )
        )
    if report.channels == 1:
        reason = "grey pictures differ in exposure more than in what they show"
        choices.append(Choice(what="brightness", value="stretched", reason=reason))
    return [
        *choices,
        Choice(what="changes", value="mirrored, scaled, lit", reason="few pictures are made to look like more"),
        Choice(what="model", value="4 layers, 96 wide", reason="masks from scratch need a small model"),
        Choice(
            what="steps", value=f"{steps:,}", reason=f"about {PASSES} passes; the best on the held-out part is kept"
        ),
    ]


def _sizes(report: MaskReport) -> dict[str, Any]:
    """What the sizes of the things decide."""
    usual = float(np.median(report.areas)) if len(report.areas) else 100.0
    small = float(np.quantile(report.areas, 0.02)) if len(report.areas) else 10.0
    across = 2 * np.sqrt(usual / np.pi)
    return {
        "unit": float(max(4, round(across))),
        "reach": int(np.clip(round(across / 6), 1, 5)),
        "votes": int(np.clip(small / 3, 1, 50)),
        "smallest": int(np.clip(small / 2, 1, 500)),
    }


def run_name(files: Sequence[Path]) -> str:
    """The folder's own name."""
    return files[0].resolve().stem or "masks"


def example(run: Path) -> str:
    """A picture of the test part, where it was linked."""
    inside = sorted((run / "data" / "test" / "images").glob("*"))
    return str(inside[0]) if inside else "example"  # the word for pictures that ship


def _share_out(path: Path, folder: Path) -> tuple[dict[str, str], str]:
    """The names of the parts for a recipe, and how large they are."""
    if parts := find_parts(path):
        return {part: str(where.resolve()) for part, where in parts.items()}, f"as the folders say: {', '.join(parts)}"
    if path.is_file():
        names = {part: f"{path.resolve()}#{part}" for part in PARTS}
        return names, "as the file says" if path.suffix == ".npz" else "a tenth for development, two for the test"
    storage.discard(folder)  # of a start that went wrong, perhaps with other pictures
    with opened_pairs(path) as found:
        counts = _link(found.pairs, folder)
        for part in counts if found.classes.names else ():
            source = next(one for one in (path / CLASSES, *path.glob(f"*/{CLASSES}")) if one.is_file())
            (folder / part / CLASSES).symlink_to(source.resolve())
    shown = f"{counts.get('dev', 0):,} pictures for development, {counts.get('test', 0):,} for the test"
    return {part: f"data/{part}" for part in counts}, shown


def _link(pairs: Sequence[MaskPair], folder: Path) -> dict[str, int]:
    """Link the pictures and masks into train, dev and test. The same picture under two names stays in one part."""
    keys = [storage.sha256(pair.picture) for pair in pairs]
    tested = _held(keys, 1 / HELD_OUT_SHARE)
    rest = [number for number, out in enumerate(tested) if not out]
    looked_at = _held([keys[number] for number in rest], 1 / (HELD_OUT_SHARE - 1))
    part_of = {number: "dev" if out else "train" for number, out in zip(rest, looked_at, strict=True)}
    counts: dict[str, int] = {}
    for number, pair in enumerate(pairs):
        part = part_of.get(number, "test")
        counts[part] = counts.get(part, 0) + 1
        into = folder / part
        into.joinpath("images").mkdir(parents=True, exist_ok=True)
        into.joinpath("masks").mkdir(parents=True, exist_ok=True)
        into.joinpath("images", pair.picture.name).symlink_to(pair.picture.resolve())
        stem = pair.picture.stem
        if pair.one_each:
            into.joinpath("masks", stem).mkdir()
            for mask in pair.masks:
                into.joinpath("masks", stem, mask.name).symlink_to(mask.resolve())
        else:
            into.joinpath("masks", f"{stem}{pair.masks[0].suffix}").symlink_to(pair.masks[0].resolve())
    return {part: counts[part] for part in PARTS if part in counts}


def _held(keys: Sequence[str], share: float) -> list[bool]:
    return hold_out_by_class(keys, [""] * len(keys), share=share)


AUTOMATIC = Automatic(recognise=recognise, choose=choose, examine=examine, name=run_name, example=example)
