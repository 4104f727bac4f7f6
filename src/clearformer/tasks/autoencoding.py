"""Pictures through a code of a few numbers and back, judged by the error of each pixel, with PCA's beside it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from clearformer.data.augment import Changes, change
from clearformer.data.collate import Batch
from clearformer.data.readers.pictures import channel_statistics
from clearformer.evaluation.pixel_error import Principal, score_pixels
from clearformer.folder.description import ModelFolder
from clearformer.folder.preprocessing import PictureFacts, Preprocessing
from clearformer.inference.picture_classifier import as_shares, normalised
from clearformer.inference.reconstructor import Reconstructor
from clearformer.tasks.automatic import picture_codes
from clearformer.tasks.picture_data import PictureFiles
from clearformer.tasks.picture_parts import (
    PicturePart,
    PictureRow,
    evaluated_part,
    gather,
    pixel_table,
    training_part,
)
from clearformer.tasks.task import Judging, Prepared, Scores, Seed, Task, Training, Workspace
from clearformer.tasks.verbs import VERBS
from clearformer.training.loss import Loss


@dataclass(frozen=True, kw_only=True)
class CodedPictures(PictureFiles):
    """idx files, a folder with one subfolder per class, or a folder of pictures. Without dev, some are held out."""

    shift: int = 0  # augmentation: move by up to so many pixels
    flip: bool = False  # augmentation: mirror every second one


@dataclass(frozen=True, kw_only=True)
class SquaredError:
    """The squared error of each pixel."""

    # noise of this deviation is added to what is read, and not to what is wanted (a denoising autoencoder); 0: none
    noise: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.noise < 10:
            raise ValueError(f"objective.noise must be at least 0 and below 10, not {self.noise}")


@dataclass(frozen=True, kw_only=True)
class HeldCodes:
    """Pictures to compress, and those that were learned from, which PCA needs; None where they are gone."""

    pictures: PicturePart
    learned: PicturePart | None = None


@dataclass(frozen=True, kw_only=True)
class NoisyPictures(Batch):
    """Pictures, and noise that may be added to what is read of them."""

    pictures: Tensor  # B C Y X
    noise: Tensor | None = None  # B C Y X


def prepare(data: CodedPictures, workspace: Workspace) -> Prepared[PictureRow]:
    """Read the pictures into shards of bytes, hold some out, and measure their mean and deviation."""
    found = gather(data, workspace)
    mean, deviation = channel_statistics(pixels.reshape(-1, found.channels) for pixels, _ in found.train)
    facts = PictureFacts(size=found.size, channels=found.channels, mean=mean, deviation=deviation)
    return Prepared(
        train=found.train,  # type: ignore[arg-type]  # two columns
        lengths=[np.ones(len(found.train), dtype=np.int64)],
        dev=found.dev,
        held=HeldCodes(pictures=found.held),
        preprocessing=Preprocessing(picture=facts),
    )


def sizes(preprocessing: Preprocessing) -> dict[str, Any]:
    """What the pictures decide of the model."""
    facts = preprocessing.picture
    assert facts is not None
    return {"front": {"kind": "patches", "picture": facts.size, "channels": facts.channels, "patch": facts.size}}


def collate(data: CodedPictures, preprocessing: Preprocessing) -> Callable[[Sequence[PictureRow], Seed], NoisyPictures]:
    """Bytes as a batch; in training, moved, mirrored and with noise as the seed says."""
    facts = preprocessing.picture
    assert facts is not None
    shape, blank = (facts.size, facts.size, facts.channels), torch.tensor(facts.mean)
    changes = Changes(shift=data.shift, flip=data.flip)

    def collate_rows(rows: Sequence[PictureRow], seed: Seed) -> NoisyPictures:
        shares = as_shares([pixels.reshape(shape) for pixels, _ in rows])
        random = np.random.default_rng(seed) if seed else None
        if random is not None:
            shares = change(shares, changes, random, blank=blank)
        pictures = normalised(shares, facts)
        noise = None if random is None else torch.from_numpy(random.standard_normal(pictures.shape, dtype=np.float32))
        return NoisyPictures(pictures=pictures, noise=noise)

    return collate_rows


def loss(model: nn.Module, batch: NoisyPictures, objective: SquaredError) -> Loss:
    """The mean squared error of a picture, summed over pictures."""
    given = batch.pictures
    if objective.noise and batch.noise is not None:
        given = given + objective.noise * batch.noise
    error = (model(given).float() - batch.pictures).square().flatten(1).mean(dim=1).sum()
    return Loss(error, len(batch), {})


def score(reconstructor: Reconstructor, held: HeldCodes, judging: Judging) -> Scores:
    """The squared error per pixel of numbers from 0 to 1; thoroughly, with PCA's, which has as long a code."""
    count = len(held.pictures) if judging.thorough else judging.scoring.examples
    part = held.pictures.first(count)
    mine = judging.ranks.share_out(part.pixels)
    errors = judging.ranks.collect([one.error for one in reconstructor.reconstruct(mine, judging.options)])
    if not judging.thorough:
        return {"mse": float(np.mean(errors))}
    scores = score_pixels(errors)
    if held.learned is None:
        return scores | {"pca_signature": "not known: the training pictures are not beside the model"}
    principal = Principal.of(pixel_table(held.learned), reconstructor.code_size)
    found = score_pixels(principal.errors(pixel_table(part)))
    told = {f"pca_{name}": found[name] for name in ("mse", "mse_low", "mse_high", "psnr")}
    return scores | told | {"pca_signature": f"{reconstructor.code_size} principal components of the training part"}


def held_out(files: Sequence[Path], folder: ModelFolder) -> HeldCodes:
    """A test set: a folder of pictures or an idx file; beside it what the model learned from, if it is still there."""
    first, *_ = files  # classes may stand behind them, as in a corpus, and are not looked at
    return HeldCodes(pictures=evaluated_part([first], folder), learned=training_part(folder))


TASK = Task(
    name="autoencoding",
    verb=VERBS["reconstruct"],
    use=Reconstructor,
    training=Training(
        data=CodedPictures,
        objective=SquaredError,
        unit="pictures",
        prepare=prepare,
        sizes=sizes,
        collate=collate,
        loss=loss,
        score=score,
        held_out=held_out,
        test_files=lambda data: (data.test,),
        best="-mse",
        facts=lambda recipe: {"data": recipe.data.corpus or Path(recipe.data.train).name},
    ),
    automatic=replace(picture_codes.AUTOMATIC),
)
