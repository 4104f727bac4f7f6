"""A run up to its first step, in the hands of a test: the task's data prepared and the model drawn."""

from pathlib import Path
from typing import Any, NamedTuple

import torch

from clearformer.folder.bundle import Bundle
from clearformer.run.beginning import begin
from clearformer.run.loop_parts import loop_parts
from clearformer.run.recipe import Recipe, trainable
from clearformer.run.validation import Validation
from clearformer.tasks.task import Prepared, Task, Workspace
from clearformer.training.distributed import Ranks
from clearformer.training.loop import LoopParts


class Assembled(NamedTuple):
    """What the runner has in its hands before the loop."""

    task: Task
    recipe: Recipe
    prepared: Prepared[Any]
    made: Bundle

    def parts(self) -> LoopParts[Any]:
        return loop_parts(self.task, self.recipe, self.made, self.prepared, Ranks())

    def validation(self) -> Validation:
        return Validation(self.task, self.recipe, self.made, self.prepared, Ranks())


def assemble(recipe: Recipe, folder: Path) -> Assembled:
    """Prepare a recipe whose files stand in `folder`, and draw its model there."""
    task, training = trainable(recipe.task)
    prepared = training.prepare(recipe.data, Workspace(folder=folder, base=folder, options=recipe.use))
    return Assembled(task, recipe, prepared, begin(task, recipe, prepared, torch.device("cpu")))
