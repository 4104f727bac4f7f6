"""A run up to its first step, in the hands of a test: the task's data prepared and the model drawn."""

from pathlib import Path
from typing import Any, NamedTuple

import torch

from clearformer.folder.bundle import Bundle
from clearformer.folder.description import open_folder
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
    start = open_folder(recipe.model["from"]) if "from" in recipe.model else None
    workspace = Workspace(folder=folder, base=folder, options=recipe.use, start=start)
    prepared = training.prepare(recipe.data, workspace)
    return Assembled(task, recipe, prepared, begin(task, recipe, prepared, torch.device("cpu")))
