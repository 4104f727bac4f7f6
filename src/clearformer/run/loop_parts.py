"""A task and its prepared data as the training loop wants them: batches by position, loss, validation."""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from clearformer.data.batching import BatchingConfig, DataPlan
from clearformer.data.row_plan import Plan
from clearformer.folder.bundle import Bundle
from clearformer.run.recipe import Recipe
from clearformer.run.validation import Validation
from clearformer.tasks.task import Prepared, Task
from clearformer.training.distributed import Ranks
from clearformer.training.loop import LoopParts
from clearformer.training.loss import Loss


def loop_parts(task: Task, recipe: Recipe, made: Bundle, prepared: Prepared[Any], ranks: Ranks) -> LoopParts[Any]:
    """The plan begins with the largest batch, so that a run that does not fit fails at once or not at all."""
    assert task.training is not None
    config, training = recipe.training, task.training
    plan_of: Callable[..., Plan] = prepared.order or partial(DataPlan, *prepared.lengths)
    plan = plan_of(
        config=BatchingConfig(max_tokens=config.batch_tokens, max_sentences=config.batch_examples, longest_first=True),
        seed=config.seed,
        ranks=ranks.count,
    )
    collate = training.collate(recipe.data, prepared.preprocessing)

    @lru_cache(maxsize=1)
    def batches(epoch: int) -> list[NDArray[np.int64]]:
        return plan.batches(epoch, ranks.rank)

    def batch_at(position: int) -> Any:
        place = plan.position(position)
        rows = [prepared.train[int(row)] for row in batches(place.epoch)[place.batch]]
        return collate(rows, (config.seed, position, ranks.rank)).to(ranks.device)

    def follow(batch: Any, left: Tensor, position: int) -> Any:
        return batch.after(left) if plan.position(position).batch else batch  # an epoch begins with fresh rows

    return LoopParts(
        batch_at=batch_at,
        loss=partial(_loss, training.loss, prepared.objective(recipe.objective)),
        validate=Validation(task, recipe, made, prepared, ranks),
        better=training.better,
        split=lambda batch, count: batch.split(count),
        follow=None if prepared.order is None else follow,
    )


def _loss(loss: Callable[[nn.Module, Any, Any], Loss], objective: Any, model: nn.Module, batch: Any) -> Loss:
    return loss(model, batch, objective)
