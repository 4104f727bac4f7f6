"""What a detector finds in a picture: the box and the scores of every patch, and which of them are given.

The picture is read and scaled by the object behind `clearformer detect`, which also chooses. T patches, C classes.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from clearformer.data.readers.pictures import fit_within
from clearformer.inference.detection_settings import DetectionConfig
from clearformer.inference.detector import Detector
from clearformer.inference.picture_classifier import as_tensor, fit
from clearformer.serving.admission import Turns
from clearformer.serving.refusal import Refused
from clearformer.studio.packing import pack, pack_bytes
from clearformer.studio.patch_tokens import PatchTokens, PictureLook, read_upload
from clearformer.studio.shown_model import ShownModel
from clearformer.studio.uploads import Kept, fingerprint

LONGEST = 640  # pixels of a picture's longer side, as it is sent to the page


@dataclass(frozen=True)
class BoxScores:
    """What the patches of a picture said: scores T C and edges T 4, and the picture's own size."""

    scores: Tensor = field(repr=False)
    corners: Tensor = field(repr=False)
    width: int
    height: int


class BoxViewer:
    """Finds objects. Answers are plain data, ready for JSON."""

    def __init__(self, shown_model: ShownModel, tokens: PatchTokens, turns: Turns) -> None:
        self.shown_model, self._tokens, self._turns = shown_model, tokens, turns
        self._kept: Kept[BoxScores] = Kept()

    @cached_property
    def detector(self) -> Detector:
        """The object behind `clearformer detect`."""
        try:
            return Detector(self.shown_model.bundle)
        except ValueError as error:
            raise Refused("noboxes", "this model finds no objects in pictures") from error

    def take(self, content: bytes) -> dict[str, Any]:
        """Read a picture file, and say what every patch says of it."""
        detector = self.detector
        whole = read_upload(content)
        pixels = fit(whole, detector.facts)
        height, width = whole.shape[:2]
        look = PictureLook(fingerprint(content), pixels, as_tensor([pixels], detector.facts), width, height)
        with self._turns.mine():
            [scores], [corners] = detector.boxes([whole])
        self._kept.put(look.name, BoxScores(scores, corners, width, height))
        return {
            **self._tokens.keep(look),
            "shown": pack_bytes(torch.from_numpy(fit_within(whole, LONGEST).copy())),
            "labels": list(detector.labels),
            "thresholds": list(detector.thresholds),
            "duplicates": detector.duplicates,
            "scores": pack(scores),
            "corners": pack(corners),
        }

    def choose(self, picture: str, threshold: float | None, duplicates: float | None) -> dict[str, Any]:
        """The objects that are given at a threshold, as `clearformer detect` gives them. The surest first."""
        said = self._kept.get(picture)
        config = DetectionConfig(threshold=threshold, duplicates=duplicates)
        found = self.detector.choose((said.width, said.height), said.scores, said.corners, config)
        objects = [
            {"label": one.label, "score": one.score, "box": one.box, "patch": one.patch} for one in found.objects
        ]
        return {"objects": objects, "counts": found.counts, "nearest": found.nearest, "most": config.most}
