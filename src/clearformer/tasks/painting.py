"""Pictures of a class, painted by one Transformer in one of three ways.

flow: out of noise, predicting the clean picture. hidden-places: codes of patches, the surest first.
left-to-right: the same codes, one after the other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from clearformer.data.augment import Changes, change
from clearformer.data.collate import Batch
from clearformer.data.patch_clusters import cluster_patches
from clearformer.decoding.flow_sampling import mix
from clearformer.folder.patch_codes import PatchCodes, cut
from clearformer.folder.preprocessing import PictureFacts, Preprocessing
from clearformer.foundation import storage
from clearformer.inference.painter import Painter, Way
from clearformer.inference.picture_classifier import as_shares, normalised
from clearformer.tasks.automatic import picture_paintings
from clearformer.tasks.painted_scores import PaintedScoring, RealPictures, real_pictures, score_paintings
from clearformer.tasks.picture_data import PictureFiles
from clearformer.tasks.picture_parts import GatheredPictures, PictureRow, gather
from clearformer.tasks.task import Judging, Prepared, Scores, Seed, Task, Training, Workspace
from clearformer.tasks.verbs import VERBS
from clearformer.training.loss import Loss, cross_entropy

CODES = "patch_codes"  # where a run keeps its book of patches
SOONEST = 0.05  # 1 - t is taken for no less: near the picture the direction would weigh without bound
LOOKED_AT = (0,)  # the seed of what is drawn for a look at the development set: the same each time


@dataclass(frozen=True, kw_only=True)
class PaintingData(PictureFiles):
    """Pictures with classes: idx files, or a folder with one subfolder per class. Without dev, some are held out."""

    way: Way = "flow"  # how pictures are painted: out of noise, from hidden codes, or codes from left to right
    codes: int = 512  # patches in the book, where pictures are painted from codes
    patch: int = 4  # pixels on each side of a patch of the book
    shift: int = 0  # augmentation: move by up to so many pixels
    flip: bool = False  # augmentation: mirror every second one
    untold: float = 0.1  # share of the pictures whose class is not told, so that guidance works

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.codes < 2 or self.patch < 1:
            raise ValueError(f"data.codes is at least 2 and data.patch at least 1, not {self.codes} and {self.patch}")
        if not 0 <= self.untold < 1:
            raise ValueError(f"data.untold is a share of the pictures below 1, not {self.untold}")


@dataclass(frozen=True, kw_only=True)
class PaintingObjective:
    """What is made smaller: the error of the clean picture, or the cross-entropy of codes."""

    # flow: the error of the direction, which weighs pictures with little noise more, or of the clean picture as it is
    error: Literal["direction", "picture"] = "direction"
    smoothing: float = 0.0  # codes: the share of the probability that is spread over all codes


@dataclass(frozen=True, kw_only=True)
class PaintingBatch(Batch):
    """What is read, what it is of, and what is wanted: clean pictures, or codes where `wanted` is true."""

    given: Tensor  # pictures in noise B C Y X, or codes B T
    classes: Tensor  # B
    goal: Tensor  # B C Y X, or B T
    times: Tensor | None = None  # B
    wanted: Tensor | None = None  # B T


def prepare(data: PaintingData, workspace: Workspace) -> Prepared[PictureRow]:
    """Read the pictures into shards of bytes, hold some out, and make a book of patches if codes are wanted."""
    found = gather(data, workspace)
    halves = (0.5,) * found.channels  # numbers from -1 to 1, as large as the noise
    return Prepared(
        train=found.train,  # type: ignore[arg-type]  # two columns
        lengths=[np.ones(len(found.train), dtype=np.int64)],
        dev=found.dev,
        held=RealPictures(test=found.held),
        preprocessing=Preprocessing(
            labels=found.labels,
            picture=PictureFacts(size=found.size, channels=found.channels, mean=halves, deviation=halves),
            codes=None if data.way == "flow" else _codes(data, found, workspace),
        ),
    )


def _codes(data: PaintingData, found: GatheredPictures, workspace: Workspace) -> PatchCodes:
    """The book of the run, which a resumed run finds as it was."""
    folder = workspace.folder / CODES
    assert data.way != "flow"
    if not workspace.anew and folder.exists():
        return PatchCodes.load(folder, {"patch": data.patch, "count": _count(folder), "order": data.way})
    shape = (found.size, found.size, found.channels)
    some = np.random.default_rng(1).permutation(len(found.train))[:20_000]
    pictures = np.stack([found.train[int(row)][0].reshape(shape) for row in some])
    patches = cut(pictures, data.patch)
    book = cluster_patches(patches.reshape(-1, patches.shape[-1]), data.codes)
    made = PatchCodes(book=book, patch=data.patch, order=data.way)
    with storage.new_folder(folder) as aside:
        made.save(aside)
        storage.write_json(aside / "count.json", len(made))
    return made


def _count(folder: Path) -> int:
    return int(storage.read_json(folder / "count.json"))


def sizes(preprocessing: Preprocessing) -> dict[str, Any]:
    """What the pictures, their classes and the way to paint decide of the model."""
    facts, codes = preprocessing.picture, preprocessing.codes
    assert facts is not None
    condition = {"classes": len(preprocessing.labels), "causal": codes is not None and codes.order == "left-to-right"}
    if codes is None:
        front = {"kind": "patches", "picture": facts.size, "channels": facts.channels, "class_token": False}
        return {"front": front, "head": {"kind": "pixels"}, "condition": condition}
    return {
        "front": {"kind": "tokens"}, "head": {"kind": "language-model"}, "condition": condition,
        "vocab_size": len(codes) + 1,  # and what stands for a hidden code, or before the first
        "max_len": (facts.size // codes.patch) ** 2,
    }  # fmt: skip


def collate(data: PaintingData, preprocessing: Preprocessing) -> Callable[[Sequence[PictureRow], Seed], PaintingBatch]:
    """Bytes as a batch; noise, times, hidden places and untold classes are drawn as the seed says."""
    facts, codes, untold = preprocessing.picture, preprocessing.codes, len(preprocessing.labels)
    assert facts is not None
    shape, blank = (facts.size, facts.size, facts.channels), torch.tensor(facts.mean)
    changes = Changes(shift=data.shift, flip=data.flip)

    def collate_rows(rows: Sequence[PictureRow], seed: Seed) -> PaintingBatch:
        random = np.random.default_rng(seed or LOOKED_AT)
        shares = as_shares([pixels.reshape(shape) for pixels, _ in rows])
        classes = torch.tensor([int(label[0]) for _, label in rows])
        if seed:
            classes[torch.from_numpy(random.random(len(rows)) < data.untold)] = untold
            shares = change(shares, changes, random, blank=blank)
        if codes is None:
            return _in_noise(normalised(shares, facts), classes, random)
        return _in_codes(codes, shares, classes, random)

    return collate_rows


def _in_noise(pictures: Tensor, classes: Tensor, random: np.random.Generator) -> PaintingBatch:
    """Each picture at a time of its own, most often a middle one, where most is decided (Esser et al., 2024)."""
    times = torch.from_numpy(random.standard_normal(len(pictures), dtype=np.float32) - 0.4).sigmoid()
    noise = torch.from_numpy(random.standard_normal(pictures.shape, dtype=np.float32))
    return PaintingBatch(given=mix(pictures, noise, times), classes=classes, goal=pictures, times=times)


def _in_codes(codes: PatchCodes, shares: Tensor, classes: Tensor, random: np.random.Generator) -> PaintingBatch:
    """Some places hidden, as many as a step of the sampler would find; or all codes, moved one place on."""
    drawn = (shares * 255).round().to(torch.uint8).permute(0, 2, 3, 1).numpy()
    goal = torch.from_numpy(codes.encode(drawn))
    if codes.order == "left-to-right":
        start = torch.full((len(goal), 1), len(codes))
        return PaintingBatch(given=torch.cat((start, goal[:, :-1]), dim=1), classes=classes, goal=goal)
    most = np.cos(np.pi / 2 * random.random((len(goal), 1)))
    order: NDArray[np.int64] = random.random(goal.shape).argsort(axis=1).argsort(axis=1)
    hidden = torch.from_numpy(order < np.maximum(1, np.ceil(most * goal.shape[1])))
    return PaintingBatch(given=goal.masked_fill(hidden, len(codes)), classes=classes, goal=goal, wanted=hidden)


def loss(model: nn.Module, batch: PaintingBatch, objective: PaintingObjective) -> Loss:
    """The mean squared error of each picture, or the cross-entropy of the codes that are wanted."""
    if batch.times is None:
        logits = model(batch.given, batch.classes)
        keep = torch.ones_like(batch.goal, dtype=torch.bool) if batch.wanted is None else batch.wanted
        return cross_entropy(logits, batch.goal, keep, smoothing=objective.smoothing)
    found = model(batch.given, batch.classes, batch.times)
    error = (found.float() - batch.goal).square().flatten(1).mean(dim=1)
    plain = error.detach().sum()
    if objective.error == "direction":
        error = error / (1 - batch.times).clamp(min=SOONEST).square()
    return Loss(error.sum(), len(batch), {"picture": plain})


def score(painter: Painter, held: RealPictures, judging: Judging) -> Scores:
    """Thoroughly: judges look. During training the development loss alone decides."""
    return score_paintings(painter, held, judging) if judging.thorough else {}


def facts(recipe: Any) -> dict[str, Any]:
    """What a folder remembers of its recipe."""
    use = {"guidance": recipe.use.guidance, "temperature": recipe.use.temperature}
    use |= {"steps": recipe.use.steps} if recipe.use.steps is not None else {}
    return {"data": recipe.data.corpus or Path(recipe.data.train).name, "decoding": use}


TASK = Task(
    name="painting",
    verb=VERBS["paint"],
    use=Painter,
    training=Training(
        data=PaintingData,
        objective=PaintingObjective,
        scoring=PaintedScoring,
        unit="pictures",
        prepare=prepare,
        sizes=sizes,
        collate=collate,
        loss=loss,
        score=score,
        held_out=real_pictures,
        test_files=lambda data: (data.test, data.test_labels) if data.test_labels else (data.test,),
        best="-loss",
        facts=facts,
    ),
    automatic=picture_paintings.AUTOMATIC,
)
