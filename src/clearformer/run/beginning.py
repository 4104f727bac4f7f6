"""The model before its first step, with all that its folder will say of it."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from clearformer import __version__
from clearformer.folder import bundle
from clearformer.folder.bundle import Bundle
from clearformer.model.build import build
from clearformer.model.weights import start_from, weights_of
from clearformer.run.recipe import Recipe
from clearformer.tasks.model_section import model_config
from clearformer.tasks.task import Prepared, Task

log = logging.getLogger(__name__)


def begin(task: Task, recipe: Recipe, prepared: Prepared[Any], device: torch.device) -> Bundle:
    """Freshly drawn, or as a folder has it, or fewer layers of it."""
    assert task.training is not None
    config = model_config(recipe.model, task.training.sizes(prepared.preprocessing))
    torch.manual_seed(recipe.training.seed)
    model = build(config)
    if (start := recipe.model.get("from")) is not None:
        new = start_from(model, weights_of(bundle.load(Path(start)).model))
        if new:
            log.info("begun with %s; new are %s", start, ", ".join(new))
    return Bundle(
        task=task.name,
        config=config,
        model=model.to(device),
        preprocessing=prepared.preprocessing,
        provenance=provenance(recipe, task.training.facts(recipe)),
    )


def provenance(recipe: Recipe, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Where a model comes from. facts: what its task has to say."""
    told = {
        "recipe": recipe.name,
        "seed": recipe.training.seed,
        **facts,
        "attribution": recipe.data.attribution,
        "licence": recipe.data.licence,
        "clearformer": __version__,
    }
    return {name: value for name, value in told.items() if value is not None}
