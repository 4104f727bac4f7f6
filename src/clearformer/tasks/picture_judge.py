"""A small classifier that judges painted pictures: trained here on real ones, or a model folder that somebody names."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from clearformer.data.augment import Changes, change
from clearformer.data.readers.pictures import Pixels, channel_statistics
from clearformer.folder import bundle
from clearformer.folder.bundle import Bundle
from clearformer.folder.description import open_folder
from clearformer.folder.preprocessing import PictureFacts, Preprocessing
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.inference.picture_classifier import PictureClassifier, as_shares, normalised
from clearformer.inference.reading_settings import ClassConfig
from clearformer.model.build import build
from clearformer.model.config import DropoutConfig, FrontConfig, HeadConfig, ModelConfig, NormConfig
from clearformer.model.families import vit
from clearformer.tasks.picture_parts import PicturePart
from clearformer.training.loss import cross_entropy
from clearformer.training.optimiser import OptimiserConfig, make_optimiser

BATCH, PEAK, WARM = 128, 3e-3, 0.1
TOGETHER = ClassConfig(batch=250)


class Judge:
    """Reads the class of a picture, and has features in which pictures can be compared."""

    def __init__(self, made: Bundle) -> None:
        self.classifier = PictureClassifier(made)

    @classmethod
    def open(cls, model: str | Path, labels: Sequence[str]) -> "Judge":
        """A classifier of the same classes, from its folder."""
        judge = cls(bundle.load(open_folder(model)))
        if set(judge.classifier.labels) != set(labels):
            known = ", ".join(judge.classifier.labels)
            raise ValueError(f"{model} knows the classes {known}, and the pictures are of {', '.join(labels)}")
        return judge

    def read(self, pictures: Sequence[Pixels]) -> list[str]:
        """The class of each picture."""
        return [one.label for one in self.classifier.classify(list(pictures), TOGETHER)]

    def features(self, pictures: Sequence[Pixels]) -> NDArray[np.float64]:
        """What its last layer decides by: a row of numbers for each picture."""
        found: list[Tensor] = []
        last: nn.Module = self.classifier.model.head.classify  # type: ignore[union-attr, assignment]
        hook = last.register_forward_pre_hook(lambda _, given: found.append(given[0].detach()))
        try:
            for start in range(0, len(pictures), TOGETHER.batch):
                self.classifier.probabilities(list(pictures[start : start + TOGETHER.batch]))
        finally:
            hook.remove()
        return torch.cat(found).double().cpu().numpy()


def train_judge(
    part: PicturePart, labels: Sequence[str], *, steps: int, seed: int = 1, on_progress: OnProgress = unwatched
) -> Judge:
    """A small Vision Transformer with a convolutional stem that learns the classes of these pictures."""
    size, _, channels = part.pixels[0].shape
    mean, deviation = channel_statistics(part.pixels)
    facts = PictureFacts(size=size, channels=channels, mean=mean, deviation=deviation)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        config = _config(size, channels, len(labels))
        model = build(config).train()
        optimiser = make_optimiser(model, OptimiserConfig(clip=1.0, decay=0.05))
        wanted = torch.tensor([labels.index(label) for label in part.labels])
        draw = np.random.default_rng(seed)
        for step in range(steps):
            rows = draw.integers(len(part), size=min(BATCH, len(part)))
            shares = as_shares([part.pixels[row] for row in rows])
            moved = change(shares, Changes(shift=max(1, size // 14)), draw, blank=torch.tensor(facts.mean))
            found = cross_entropy(model(normalised(moved, facts)), wanted[rows], smoothing=0.05)
            (found.total / found.count).backward()  # type: ignore[no-untyped-call]
            for group in optimiser.param_groups:
                group["lr"] = _rate(step, steps)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            optimiser.zero_grad()
            on_progress(step + 1, steps)
    told = Preprocessing(labels=tuple(labels), picture=facts)
    return Judge(Bundle(config=config, model=model.eval(), task="picture-classification", preprocessing=told))


def _rate(step: int, steps: int) -> float:
    done = step / steps
    return PEAK * min(1.0, (done + 1 / steps) / WARM) * (1 + math.cos(math.pi * done)) / 2


def _config(size: int, channels: int, labels: int) -> ModelConfig:
    patch = 4 if size % 4 == 0 else 2 if size % 2 == 0 else 1
    stem: Literal["patches", "convolution"] = "convolution" if patch > 1 else "patches"
    return vit(
        dim=64,
        hidden_dim=128,
        layers=2,
        heads=2,
        norm=NormConfig(place="pre"),
        front=FrontConfig(
            kind="patches", picture=size, patch=patch, channels=channels, stem=stem, stem_layers=2, class_token=False
        ),
        dropout=DropoutConfig.everywhere(0.05),
        head=HeadConfig(kind="class", labels=labels, pool="mean"),
        init_std=None,
    )
