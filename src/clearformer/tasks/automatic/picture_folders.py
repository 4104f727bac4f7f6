"""From a folder with one subfolder per class to a picture classifier: every choice, each with its reason."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from clearformer.data.class_split import hold_out_by_class
from clearformer.data.readers.pictures import PictureError, class_folders, picture_files, read_picture
from clearformer.foundation import storage
from clearformer.tasks.task import Automatic, Choice, Chosen

FEW = 10  # pictures of a class, below which nothing much is learned of it
LARGEST = 64  # pixels on each side that an ordinary computer trains with
HELD_OUT_SHARE = 10


@dataclass(frozen=True, kw_only=True)
class PictureReport:
    """What is wrong with a folder of pictures. Each finding: file, what is wrong, whether it stops training."""

    counts: dict[str, int]
    findings: list[tuple[str, str, bool]] = field(default_factory=list)

    @property
    def fatal(self) -> bool:
        return any(stops for *_, stops in self.findings)

    def to_text(self) -> str:
        lines = [f"{sum(self.counts.values()):,} pictures in {len(self.counts)} classes"]
        lines += [f"   {name}  {count:,}" for name, count in self.counts.items()]
        lines += [f"{file}: {what}" for file, what, _ in self.findings]
        return "\n".join([*lines, *([] if self.findings else ["nothing found"])])

    def to_json(self) -> str:
        found = [{"file": file, "detail": what, "fatal": stops} for file, what, stops in self.findings]
        return json.dumps({"fatal": self.fatal, "counts": self.counts, "findings": found}, ensure_ascii=False, indent=2)


def recognise(files: Sequence[Path]) -> str | None:
    """A folder whose subfolders hold pictures."""
    if len(files) != 1 or not files[0].is_dir():
        return None
    classes = class_folders(files[0])
    return f"pictures in {len(classes)} classes, one per subfolder" if len(classes) > 1 else None


def examine(files: Sequence[Path]) -> PictureReport:
    """Read every picture once: what cannot be read, what stands twice, classes with few pictures."""
    [folder] = files
    counts: Counter[str] = Counter()
    findings: list[tuple[str, str, bool]] = []
    seen: dict[str, tuple[Path, str]] = {}
    for part in class_folders(folder):
        for path in picture_files(part):
            counts[part.name] += 1
            try:
                read_picture(path)
            except PictureError as error:
                findings.append((str(path), str(error).removeprefix(f"{path} "), True))
                continue
            mark = storage.sha256(path)
            if mark in seen:
                other, label = seen[mark]
                doubt = " in another class" if label != part.name else ""
                findings.append((str(path), f"the same picture as {other}{doubt}; remove one", False))
            seen.setdefault(mark, (path, part.name))
    for name, count in counts.items():
        if count < FEW:
            findings.append((str(folder / name), f"only {count} pictures of this class; add more", False))
    if len(counts) < 2:
        findings.append((str(folder), "fewer than two subfolders with pictures; make one per class", True))
    return PictureReport(counts=dict(counts), findings=findings)


def choose(files: Sequence[Path], out: Path) -> Chosen:
    """A recipe for a folder of classes; a tenth is held out for development, a tenth for the test."""
    [folder] = files
    report = examine(files)
    if report.fatal:
        file, what, _ = next(finding for finding in report.findings if finding[2])
        raise PictureError(f"{file}: {what}")
    pictures = {part.name: list(picture_files(part)) for part in class_folders(folder)}
    parts = _split(pictures, out / "data")
    first = read_picture(next(iter(pictures.values()))[0])
    side = min(LARGEST, 2 ** int(np.log2(min(first.shape[:2]))))
    patch = max(2, side // 8)
    dim, layers = (128, 4) if sum(report.counts.values()) < 20_000 else (192, 6)
    total = parts["train"]
    batch = 64
    steps = max(200, total * 20 // batch)
    recipe: dict[str, Any] = {
        "task": "picture-classification",
        "name": run_name(files),
        "data": {
            "train": "data/train", "dev": "data/dev", "test": "data/test",
            "size": side, "channels": first.shape[2], "shift": max(1, side // 14), "flip": False,
        },
        "model": {
            "family": "vit", "dim": dim, "hidden_dim": 2 * dim, "layers": layers,
            "attention": {"heads": dim // 32}, "front": {"patch": patch}, "dropout": {"residual": 0.1},
        },
        "objective": {"smoothing": 0.1},
        "training": {
            "steps": steps, "save_every": max(25, steps // 10), "validate_every": max(25, steps // 10),
            "log_every": 25, "batch_tokens": batch, "replicas": 2,
            "schedule": {"kind": "cosine", "peak": 3e-3, "warmup": 0.1},
            "optimiser": {"kind": "muon", "clip": 1.0},
        },
    }  # fmt: skip
    choices = [
        Choice(
            what="held out",
            value=f"{parts['dev']:,} pictures for development, {parts['test']:,} for the test",
            reason="the same share of every class; no picture is in two parts",
        ),
        Choice(
            what="size", value=f"{side} × {side}", reason="the middle square of each picture, small enough to train"
        ),
        Choice(what="patches", value=f"{patch} × {patch} pixels", reason=f"{(side // patch) ** 2} patches are one row"),
        Choice(what="model", value=f"{layers} layers, {dim} wide", reason="pictures from scratch need a small model"),
        Choice(what="steps", value=f"{steps:,}", reason="about 20 passes; the best on the development part is kept"),
    ]
    return Chosen(recipe=recipe, choices=choices, report=report.to_text())


def run_name(files: Sequence[Path]) -> str:
    """The folder's own name."""
    return files[0].resolve().name or "pictures"


def example(run: Path) -> str:
    """A picture of the test part."""
    return str(next(path for path in sorted((run / "data" / "test").rglob("*.*")) if path.is_file()))


def _split(pictures: dict[str, list[Path]], folder: Path) -> dict[str, int]:
    """Link the pictures into train, dev and test, a tenth of each class in each of the latter.

    The same picture under two names stays in one part, or the test would measure memory.
    """
    storage.discard(folder)  # of a start that went wrong, perhaps with other pictures
    files = [path for part in pictures.values() for path in part]
    keys, labels = [storage.sha256(path) for path in files], [path.parent.name for path in files]
    tested = hold_out_by_class(keys, labels, share=1 / HELD_OUT_SHARE)
    rest = [number for number, out in enumerate(tested) if not out]
    looked_at = hold_out_by_class(
        [keys[number] for number in rest], [labels[number] for number in rest], share=1 / (HELD_OUT_SHARE - 1)
    )
    part_of = {number: "dev" if out else "train" for number, out in zip(rest, looked_at, strict=True)}
    counts: Counter[str] = Counter()
    for number, path in enumerate(files):
        part = part_of.get(number, "test")
        link = folder / part / labels[number] / path.name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(path.resolve())
        counts[part] += 1
    return dict(counts)


AUTOMATIC = Automatic(recognise=recognise, choose=choose, examine=examine, name=run_name, example=example)
