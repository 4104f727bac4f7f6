"""From a folder of classes to a painter, if `--task painting` asks for one: each choice with its reason."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from clearformer.tasks.automatic import picture_folders
from clearformer.tasks.task import Choice, Chosen

KEPT = ("train", "dev", "test", "channels", "size")  # of what is chosen for a classifier
LARGEST = 32  # pixels on each side that an ordinary computer learns to paint
SMALL = 16  # pixels a side, below which every pixel is a patch
ROUNDS = 40  # passes over the pictures


def choose(files: Sequence[Path], out: Path) -> Chosen:
    """The same parts as for a classifier, and a stack that paints out of noise."""
    chosen = picture_folders.choose(files, out)
    data = {name: value for name, value in chosen.recipe["data"].items() if name in KEPT}
    side = min(LARGEST, data["size"])
    side, patch = picture_folders.in_patches(side) if side >= SMALL else (side, 1)
    steps = 2 * int(chosen.recipe["training"]["steps"])
    recipe: dict[str, Any] = {
        "task": "painting",
        "name": f"paint-{picture_folders.run_name(files)}",
        "data": data | {"size": side, "way": "flow"},
        "model": {
            "family": "dit", "dim": 128, "hidden_dim": 320, "layers": 5, "attention": {"heads": 4},
            "front": {"patch": patch},
        },
        "training": {
            **chosen.recipe["training"], "steps": steps,
            "save_every": max(25, steps // 10), "validate_every": max(25, steps // 10),
            "schedule": {"kind": "cosine", "peak": 2e-3, "warmup": 0.05},
            "optimiser": {"kind": "muon", "clip": 1.0, "ema": 0.999},
        },
    }  # fmt: skip
    kept = [choice for choice in chosen.choices if choice.what == "held out"]
    choices = [
        *kept,
        Choice(
            what="size", value=f"{side} × {side}", reason="the middle square of each picture, small enough to paint"
        ),
        Choice(
            what="way", value="flow", reason='out of noise; data.way = "hidden-places" paints from codes of patches'
        ),
        Choice(what="model", value="5 layers, 128 wide", reason="painting from scratch needs many passes"),
        Choice(what="steps", value=f"{steps:,}", reason=f"about {ROUNDS} passes; the weights are averaged on the way"),
    ]
    return replace(chosen, recipe=recipe, choices=choices)


AUTOMATIC = replace(picture_folders.AUTOMATIC, choose=choose)
