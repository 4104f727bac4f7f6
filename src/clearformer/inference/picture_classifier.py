"""Pictures in, classes out: a model folder in use, with the preprocessing that it was trained with."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clearformer.data.readers.pictures import Pixels, fit_square, read_picture
from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import PictureFacts
from clearformer.inference.picture_attention import PatchShares, roll_out_patches
from clearformer.inference.predictor import describe
from clearformer.inference.reading_network import ReadingNetwork
from clearformer.inference.reading_settings import ClassConfig
from clearformer.inference.text_readers import Classification
from clearformer.inference.wrong_use import wrong_use
from clearformer.model.config import FrontConfig

Picture = str | Path | NDArray[np.uint8]


def as_tensor(pixels: Sequence[Pixels], facts: PictureFacts) -> Tensor:
    """Bytes as the network reads them: N C H W."""
    return normalised(as_shares(pixels), facts)


class FittedSquare(np.ndarray[Any, Any]):
    """What `fit` has made of a picture. It is not fitted again, which would cut the middle out of a middle."""


def fit(pixels: Pixels, facts: PictureFacts) -> Pixels:
    """A picture of any size as the model's square."""
    if isinstance(pixels, FittedSquare) and pixels.shape == (facts.size, facts.size, facts.channels):
        return pixels
    return fit_square(
        pixels, facts.size, facts.channels, fit=facts.fit, resample=facts.resample, resized=facts.resized
    ).view(FittedSquare)


def as_square(picture: Picture, facts: PictureFacts) -> Pixels:
    """A picture, from its file or as bytes, as the model's square of bytes."""
    pixels = picture if isinstance(picture, np.ndarray) else read_picture(Path(picture))
    return fit(pixels if pixels.ndim == 3 else pixels[..., None], facts)


def usual_facts(front: FrontConfig) -> PictureFacts:
    """What published Vision Transformers subtract and divide by, for folders that do not say it."""
    halves = (0.5,) * front.channels
    return PictureFacts(size=front.picture, channels=front.channels, mean=halves, deviation=halves)


def as_shares(pixels: Sequence[Pixels]) -> Tensor:
    """Bytes as numbers from 0 to 1: N C H W."""
    return torch.from_numpy(np.asarray(np.stack(pixels))).permute(0, 3, 1, 2).float() / 255


def normalised(shares: Tensor, facts: PictureFacts) -> Tensor:
    """Each channel around zero, as in training."""
    mean, deviation = (torch.tensor(values)[:, None, None] for values in (facts.mean, facts.deviation))
    return (shares - mean) / deviation


class PictureClassifier:
    """One class for each picture."""

    def __init__(self, bundle: Bundle) -> None:
        front = bundle.config.front
        if front.kind != "patches" or bundle.config.head.kind != "class":
            raise ValueError(wrong_use(bundle.config, "picture-classification", bundle.task))
        self.bundle, self.model = bundle, bundle.model.eval()
        self.network = ReadingNetwork(self.model)
        self.facts = bundle.preprocessing.picture or usual_facts(front)
        self.labels = bundle.labels or tuple(f"LABEL_{number}" for number in range(bundle.config.head.labels))

    def classify(
        self, pictures: Picture | Sequence[Picture], config: ClassConfig | None = None, **changes: Any
    ) -> list[Classification]:
        """The class of each picture: a file name, or bytes as height, width, channels. In order."""
        chosen = replace(config or ClassConfig(), **changes)
        given = [pictures] if isinstance(pictures, str | Path | np.ndarray) else list(pictures)
        results: list[Classification] = []
        for start in range(0, len(given), chosen.batch):
            for row in self.probabilities(given[start : start + chosen.batch], flips=chosen.flips).tolist():
                best = max(range(len(row)), key=row.__getitem__)
                scores = dict(zip(self.labels, row, strict=True))
                results.append(Classification(label=self.labels[best], probability=row[best], scores=scores))
        return results

    @torch.inference_mode()
    def probabilities(self, pictures: Sequence[Picture], *, flips: bool = False) -> Tensor:
        """The probability of every class for each picture: N C. flips: the mean with those of its mirror image."""
        inputs = self.numbers(pictures)
        found = self.network(inputs).softmax(-1)
        if flips:
            found = (found + self.network(inputs.flip(-1)).softmax(-1)) / 2
        return found.cpu()

    @torch.inference_mode()
    def why(self, picture: Picture) -> PatchShares:
        """Which patches of a picture reached what its class is read from, by attention rollout."""
        head = self.bundle.config.head
        pool = "taught" if head.taught else head.pool
        return roll_out_patches(self.model, self.numbers([picture]), pool=pool)

    def numbers(self, pictures: Sequence[Picture]) -> Tensor:
        """Pictures as the network reads them: N C Y X."""
        inputs = as_tensor([self.read(picture) for picture in pictures], self.facts)
        return inputs.to(next(self.model.parameters()).device)

    def read(self, picture: Picture) -> Pixels:
        """A picture as the model's square of bytes."""
        return as_square(picture, self.facts)

    def __repr__(self) -> str:
        return describe(self, f"{len(self.labels)} classes, pictures of {self.facts.size} × {self.facts.size}")
