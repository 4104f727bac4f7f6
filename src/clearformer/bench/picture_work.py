"""The work for the race over pictures: Vision Transformers with random weights, the same in two libraries' layouts."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from clearformer.bench.race import Turn
from clearformer.bench.results_page import median_of
from clearformer.folder import bundle
from clearformer.folder.preprocessing import PictureFacts, Preprocessing
from clearformer.interop.to_hugging_face import export
from clearformer.model.build import build
from clearformer.model.config import FrontConfig, HeadConfig
from clearformer.model.families import vit

CLASSES = 10
HALVES = (0.5, 0.5, 0.5)


@dataclass(frozen=True, kw_only=True)
class PictureShape:
    """Sizes of a network over square pictures, and how many pictures are read at once."""

    size: int
    patch: int
    dim: int
    layers: int
    heads: int
    batch: int

    @property
    def case(self) -> str:
        """What its tables are called."""
        return f"{self.size} × {self.size} pixels"


SHAPES = (
    PictureShape(size=32, patch=4, dim=192, layers=6, heads=3, batch=64),
    PictureShape(size=224, patch=16, dim=192, layers=12, heads=3, batch=16),
)


def picture_job(root: Path, shape: PictureShape) -> dict[str, Any]:
    """What a contender needs to train and to use such a network."""
    folder = root / "-".join(["pictures", *(str(value) for value in asdict(shape).values())])
    ours, theirs = folder / "clearformer", folder / "huggingface"
    if not theirs.exists():
        bundle.save(_made(shape), ours)
        export(ours, theirs)
    places = {"model_folder": str(ours), "foreign_folder": str(theirs)}
    return {"task": "pictures", "case": shape.case, "shape": asdict(shape), "classes": CLASSES, **places}


def _made(shape: PictureShape) -> bundle.Bundle:
    torch.manual_seed(1)
    config = vit(
        dim=shape.dim,
        hidden_dim=4 * shape.dim,
        layers=shape.layers,
        heads=shape.heads,
        front=FrontConfig(kind="patches", picture=shape.size, patch=shape.patch),
        head=HeadConfig(kind="class", labels=CLASSES),
    )
    facts = PictureFacts(size=shape.size, channels=3, mean=HALVES, deviation=HALVES, fit="stretch")
    labels = tuple(str(number) for number in range(CLASSES))
    made = Preprocessing(labels=labels, picture=facts)
    return bundle.Bundle(config=config, model=build(config), preprocessing=made, provenance={"weights": "random"})


def by_processor(turns: Sequence[Turn], case: str, ours: str) -> str:
    """This package's pictures per second of processor time, divided by each peer's: what a busy machine leaves true."""
    rates = {
        name: median_of(
            one.count / one.facts["processor"]
            for turn in turns
            for one in turn.readings
            if turn.name == name and one.case == case and one.facts.get("processor")
        )
        for name in dict.fromkeys(turn.name for turn in turns)
    }
    mine = rates.pop(ours, None)
    told = [f"{mine / rate:.2f} × {name}" for name, rate in rates.items() if mine and rate]
    return f"by processor time: {', '.join(told)}" if told else ""
