"""Trained networks for experiments: a recipe, a few changes to it, perhaps a change to the fresh network, and a seed.

Every experiment trains through the tasks, the recipes and the loop that `clearformer train` uses. What was trained is
kept in the user's cache under a key of everything that it depends on: experiments that want the same network share
it, and a run that was killed resumes at its last checkpoint.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import torch
from torch import nn

from clearformer.folder.bundle import Bundle
from clearformer.foundation import settings, storage
from clearformer.lab.dependencies import code_key
from clearformer.lab.kept_results import usual_folder
from clearformer.model.weights import put_weights, weights_of
from clearformer.run.beginning import begin
from clearformer.run.loop_parts import loop_parts
from clearformer.run.plan import make_loop
from clearformer.run.recipe import Recipe, find_recipe, read_recipe, trainable
from clearformer.run.validation import Validation
from clearformer.tasks import language_model, translation
from clearformer.tasks.task import Prepared, Task, Workspace
from clearformer.training.distributed import Ranks
from clearformer.training.finish import finish
from clearformer.training.loop import Loop, LoopParts

TASKS_HERE = (translation, language_model)  # named, so that a key follows their code
WEIGHTS, LOSSES = "weights.safetensors", "losses.json"
USUAL = (
    "training.replicas=1",
    "training.keep=1",
    "training.validate_every=1000000",  # looked at once, at the end
    "training.log_every=1000000",
    "training.spike=1e9",  # an explosion is a result here
    "use.beam=1",
)
_READY: dict[Path, Prepared[Any]] = {}  # opened in this process
Change = Callable[[nn.Module], None]


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What to train. recipe: the name of one that ships, or a file. adjust: changes the fresh network, a function of
    its file."""

    recipe: str
    changes: tuple[str, ...] = ()
    seed: int = 0
    adjust: Change | None = None

    def read(self) -> Recipe:
        """The recipe with all changes."""
        usual = USUAL if trainable(_task_of(self.recipe))[0] is translation.TASK else USUAL[:-1]
        return read_recipe(find_recipe(self.recipe), [*usual, *self.changes, f"training.seed={self.seed + 1}"])

    def key(self, recipe: Recipe) -> str:
        """Of everything that the trained network depends on."""
        code = code_key(Path(__file__), "train_wanted")
        if self.adjust is not None:
            code += code_key(Path(self.adjust.__code__.co_filename), self.adjust.__name__)
        return _hash([settings.to_plain(recipe), code, torch.__version__])


@dataclass(frozen=True, kw_only=True)
class TrainedNetwork:
    """A network after its last step, with what it was trained on. losses: of every step, per token."""

    bundle: Bundle
    task: Task
    recipe: Recipe
    prepared: Prepared[Any]
    parts: LoopParts[Any]
    losses: list[float]

    @property
    def model(self) -> nn.Module:
        """Ready for use."""
        return self.bundle.model.eval()

    @property
    def parameters(self) -> int:
        """How many numbers were learned."""
        return sum(one.numel() for one in self.model.parameters())

    def predictor(self) -> Any:
        """The object with the task's verb."""
        return self.task.use(self.bundle)

    @property
    def validation(self) -> Validation:
        """A look at the development set."""
        return cast(Validation, self.parts.validate)

    def loss(self) -> float:
        """Per token of the development set, the plain one."""
        return self.validation.mean_loss(self.model)["loss"]

    def scores(self) -> dict[str, float]:
        """On the development set: the loss per token, and of translations BLEU."""
        if self.task is not translation.TASK:
            return {"loss": self.loss()}
        predictor = self.validation.predictor
        predictor.stepper = predictor.readable  # the fast decoder knows nothing of networks that were changed
        found = self.validation(self.model, self.recipe.training.steps)
        return {name: float(value) for name, value in found.items() if not isinstance(value, str)}


def train_wanted(wanted: Wanted, folder: Path | None = None) -> TrainedNetwork:
    """The network, from the cache or trained now. folder: instead of the user's cache."""
    recipe, folder = wanted.read(), usual_folder() if folder is None else folder
    task, _ = trainable(recipe.task)
    prepared = _prepared(recipe, folder)
    made = begin(task, recipe, prepared, torch.device("cpu"))
    if wanted.adjust is not None:
        wanted.adjust(made.model)
    parts = loop_parts(task, recipe, made, prepared, Ranks.alone())
    home = folder / "trained" / wanted.key(recipe)[:24]
    if not (home / LOSSES).exists():
        _train_in(home, make_loop(recipe, made, parts, home, Ranks.alone()))
    put_weights(made.model, storage.read_tensors(home / WEIGHTS))
    losses = storage.read_json(home / LOSSES)
    return TrainedNetwork(bundle=made, task=task, recipe=recipe, prepared=prepared, parts=parts, losses=losses)


def _train_in(home: Path, loop: Loop[Any]) -> None:
    """Train, keep weights and losses, and let the checkpoints go."""
    part = home / "part.json"
    done = loop.resume()
    losses = storage.read_json(part)[:done] if part.exists() else []

    def watch(report: Any) -> None:
        losses.append(report.loss)
        if loop.planned(report.progress.step):
            storage.write_json(part, losses)

    loop.run(watch=watch)
    finish(loop)
    storage.write_tensors(home / WEIGHTS, weights_of(loop.training.model))
    storage.write_json(home / LOSSES, losses)
    shutil.rmtree(home / "checkpoints")
    part.unlink(missing_ok=True)


def _prepared(recipe: Recipe, folder: Path) -> Prepared[Any]:
    """The data of a recipe, made once for all networks that learn from it."""
    task, training = trainable(recipe.task)
    key = _hash([task.name, settings.to_plain(recipe.data), code_key(Path(__file__), "train_wanted")])
    home = folder / "prepared" / key[:24]
    if home not in _READY:
        if not home.exists():
            home.parent.mkdir(parents=True, exist_ok=True)
            aside = Path(tempfile.mkdtemp(dir=home.parent, prefix=".making-"))
            training.prepare(recipe.data, Workspace(folder=aside, options=recipe.use))
            try:
                aside.rename(home)
            except OSError:  # another process was first
                shutil.rmtree(aside)
        _READY[home] = training.prepare(recipe.data, Workspace(folder=home, options=recipe.use, resume=True))
    return _READY[home]


@lru_cache(maxsize=32)
def _task_of(recipe: str) -> str:
    return str(settings.read_toml(find_recipe(recipe))["task"])


def _hash(value: Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(value, default=str, sort_keys=True).encode()).hexdigest()
