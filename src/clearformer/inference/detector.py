"""Pictures in, boxes out: a model folder in use, with the preprocessing that it was trained with."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from clearformer.data.readers.pictures import Pixels, read_picture
from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import PictureFacts
from clearformer.inference.detection_settings import DetectionConfig
from clearformer.inference.picture_classifier import Picture, as_tensor, fit
from clearformer.inference.predictor import describe
from clearformer.inference.wrong_use import wrong_use
from clearformer.model.box_geometry import overlap, to_corners


@dataclass(frozen=True)
class FoundObject:
    """One object. box: left, top, right and bottom edges in pixels of the picture, turned upright. patch: the one that
    speaks for it, counted row by row."""

    label: str
    score: float
    box: tuple[float, float, float, float]
    patch: int | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Detection:
    """What was found in a picture, the surest first.

    nearest: of all boxes, given or not, the score that comes nearest to what its class needs, which is `needed`.
    """

    width: int
    height: int
    objects: tuple[FoundObject, ...]
    nearest: float = 0.0
    needed: float = 0.0

    @property
    def counts(self) -> dict[str, int]:
        """How many objects of each class there are."""
        return dict(Counter(one.label for one in self.objects).most_common())


class Detector:
    """Finds objects in pictures."""

    def __init__(self, bundle: Bundle) -> None:
        config = bundle.config
        if config.head.kind != "boxes" or config.shape != "encoder" or config.front.kind != "patches":
            raise ValueError(wrong_use(config, "detection", bundle.task))
        self.bundle, self.model = bundle, bundle.model.eval()
        halves = (0.5,) * config.front.channels
        self.facts = bundle.preprocessing.picture or PictureFacts(
            size=config.front.picture, channels=config.front.channels, mean=halves, deviation=halves, fit="stretch"
        )
        self.labels = bundle.labels or tuple(f"LABEL_{number}" for number in range(config.head.labels))
        outcome = bundle.preprocessing.outcome
        self.thresholds = outcome.thresholds or (outcome.threshold,) * len(self.labels)
        if len(self.thresholds) != len(self.labels):
            raise ValueError(f"the folder has {len(self.thresholds)} thresholds for {len(self.labels)} classes")
        self.duplicates = outcome.duplicates

    def detect(
        self, pictures: Picture | Sequence[Picture], config: DetectionConfig | None = None, **changes: Any
    ) -> list[Detection]:
        """The objects of each picture: a file name, or bytes as height, width, channels. In order."""
        chosen = replace(config or DetectionConfig(), **changes)
        given = [pictures] if isinstance(pictures, str | Path | np.ndarray) else list(pictures)
        found: list[Detection] = []
        for start in range(0, len(given), chosen.batch):
            drawn = [self._read(one) for one in given[start : start + chosen.batch]]
            scores, corners = self.boxes(drawn)
            for pixels, score, corner in zip(drawn, scores, corners, strict=True):
                height, width = pixels.shape[:2]
                found.append(self.choose((width, height), score, corner, chosen))
        return found

    @torch.inference_mode()
    def boxes(self, pictures: Sequence[Pixels]) -> tuple[Tensor, Tensor]:
        """What every patch says: a score for each class, N T C, and edges as fractions of the picture, N T 4."""
        inputs = as_tensor([fit(one, self.facts) for one in pictures], self.facts)
        output: Tensor = self.model(inputs.to(next(self.model.parameters()).device)).float().cpu()
        classes = len(self.labels)
        return output[..., :classes].sigmoid(), to_corners(output[..., classes:]).clamp(0, 1)

    def choose(self, size: tuple[int, int], scores: Tensor, corners: Tensor, config: DetectionConfig) -> Detection:
        """Of what the patches of a picture say, what is given. size: width and height; scores: T C; corners: T 4."""
        width, height = size
        limits = torch.tensor(self.thresholds if config.threshold is None else [config.threshold] * scores.size(1))
        duplicates = self.duplicates if config.duplicates is None else config.duplicates
        best = scores.flatten().sort(descending=True, stable=True)
        kept = best.indices[best.values >= limits[best.indices % scores.size(1)]]
        places, classes = kept // scores.size(1), kept % scores.size(1)
        if duplicates < 1:
            places, classes = without_duplicates(places, classes, corners, duplicates)
        places, classes = places[: config.most], classes[: config.most]
        edges = (corners[places] * torch.tensor([width, height, width, height])).tolist()
        objects = tuple(
            FoundObject(label=self.labels[kind], score=score, box=(box[0], box[1], box[2], box[3]), patch=patch)
            for kind, score, box, patch in zip(
                classes.tolist(), scores[places, classes].tolist(), edges, places.tolist(), strict=True
            )
        )
        tops, place = scores.amax(dim=0), int((scores.amax(dim=0) - limits).argmax())
        nearest, needed = float(tops[place]), float(limits[place])
        return Detection(width=width, height=height, objects=objects, nearest=nearest, needed=needed)

    def _read(self, picture: Picture) -> Pixels:
        pixels = picture if isinstance(picture, np.ndarray) else read_picture(Path(picture))
        return pixels if pixels.ndim == 3 else pixels[..., None]

    def __repr__(self) -> str:
        return describe(self, f"{len(self.labels)} classes, pictures of {self.facts.size} × {self.facts.size}")


def without_duplicates(places: Tensor, classes: Tensor, corners: Tensor, most: float) -> tuple[Tensor, Tensor]:
    """Of boxes in order of their scores, those that share at most so much with a better one of their class."""
    kept: list[int] = []
    for number in range(len(places)):
        rivals = [other for other in kept if classes[other] == classes[number]]
        if rivals:
            iou, _ = overlap(corners[places[number]][None], corners[places[rivals]])
            if float(iou.max()) > most:
                continue
        kept.append(number)
    return places[kept], classes[kept]
