"""A look at the development set: the mean loss, and the task's own scores, shared out over all ranks."""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from clearformer.folder.bundle import Bundle
from clearformer.model.adapters import merged, merged_weights
from clearformer.model.weights import put_weights, weights_of
from clearformer.run.recipe import Recipe
from clearformer.tasks.task import Judging, Prepared, Scores, Task, Training
from clearformer.training.distributed import Ranks
from clearformer.training.loss import Loss, perplexity

log = logging.getLogger(__name__)
ROWS = 64  # at a time, of like length


class Validation:
    """Scores by name; called with the model and the step."""

    def __init__(self, task: Task, recipe: Recipe, made: Bundle, prepared: Prepared[Any], ranks: Ranks) -> None:
        assert task.training is not None
        self.training: Training[Any, Any, Any, Any] = task.training
        self.prepared, self.ranks = prepared, ranks
        self.objective = prepared.objective(recipe.objective)
        self.plain = merged(made.model)  # what is used looks at weights, which adapters are not yet part of
        self.predictor = task.use(replace(made, model=self.plain))
        self.collate: Callable[..., Any] = self.training.collate(recipe.data, made.preprocessing)
        self.judging = Judging(options=recipe.use, scoring=recipe.scoring, ranks=ranks)

    def __call__(self, model: nn.Module, step: int) -> Scores:
        if self.plain is not model:
            put_weights(self.plain, merged_weights(weights_of(model)))
        scores = {**self.mean_loss(model), **self.training.score(self.predictor, self.prepared.held, self.judging)}
        numbers = ", ".join(f"{name} {value:.3f}" for name, value in scores.items() if not isinstance(value, str))
        sample = next((f"; {value}" for value in scores.values() if isinstance(value, str)), "")
        log.info("step %d: development %s%s", step, numbers, sample)
        return scores

    @torch.inference_mode()
    def mean_loss(self, model: nn.Module) -> dict[str, float]:
        """The mean over the whole development set, of the plain likelihood where the task has one."""
        device = next(model.parameters()).device
        dev = self.prepared.dev
        order = sorted(range(len(dev)), key=lambda row: sum(map(_length, dev[row])))
        batches = [order[start : start + ROWS] for start in range(0, len(order), ROWS)]
        total, count, likely = 0.0, 0, False
        for rows in self.ranks.share_out(batches):
            batch = self.collate([dev[row] for row in rows], ())
            found: Loss = self.training.loss(model, batch.to(device), self.objective)
            likely = "nll" in found.metrics
            total, count = total + float(found.metrics.get("nll", found.total)), count + found.count
        summed, counted, plain = self.ranks.sum(total, float(count), float(likely))
        mean = summed / max(1.0, counted)
        return {"loss": mean} | ({"perplexity": perplexity(summed, int(counted))} if plain else {})


def _length(part: Any) -> int:
    return len(part) if hasattr(part, "__len__") else 1
