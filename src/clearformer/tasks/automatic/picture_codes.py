"""From a folder of pictures to an autoencoder, if `--task autoencoding` asks for one: each choice with its reason."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from clearformer.data.readers.picture_sets import class_folders
from clearformer.tasks.automatic import picture_folders
from clearformer.tasks.task import Choice, Chosen

CODE = 32
KEPT = ("train", "dev", "test", "channels", "size")  # of what is chosen for a classifier
LARGEST = 32  # pixels on each side that a flat network is wide enough for


def recognise(files: Sequence[Path]) -> str | None:
    """A folder whose subfolders hold pictures."""
    if len(files) != 1 or not files[0].is_dir():
        return None
    found = class_folders(files[0])
    return f"pictures in {len(found)} folders, to be compressed" if len(found) > 1 else None


def choose(files: Sequence[Path], out: Path) -> Chosen:
    """The same parts as for classes, and a network that is as wide as the pictures."""
    chosen = picture_folders.choose(files, out)
    data = {name: value for name, value in chosen.recipe["data"].items() if name in KEPT}
    side = min(LARGEST, data["size"])
    recipe: dict[str, Any] = {
        "task": "autoencoding",
        "name": f"{picture_folders.run_name(files)}-code",
        "data": data | {"size": side},
        "model": {"family": "autoencoder", "hidden_dim": 1024, "layers": 3, "bottleneck": CODE},
        "training": {
            **chosen.recipe["training"],
            "schedule": {"kind": "cosine", "peak": 2e-3, "warmup": 0.05},
            "optimiser": {"kind": "adam", "decay": 0.01, "clip": 1.0},
        },
    }
    kept = [choice for choice in chosen.choices if choice.what in ("held out", "steps")]
    choices = [
        *kept,
        Choice(what="size", value=f"{side} × {side}", reason="the middle square of each picture; the network is flat"),
        Choice(
            what="code", value=f"{CODE} numbers", reason="enough to see what is kept; model.bottleneck says another"
        ),
        Choice(what="model", value="3 projections each way, 1,024 wide", reason="one alone would find PCA's code"),
    ]
    return replace(chosen, recipe=recipe, choices=choices)


AUTOMATIC = replace(picture_folders.AUTOMATIC, recognise=recognise, choose=choose)
