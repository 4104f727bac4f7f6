"""The model before its first step, with all that its folder will say of it."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from clearformer import __version__
from clearformer.folder import bundle
from clearformer.folder.bundle import Bundle
from clearformer.folder.description import open_folder
from clearformer.folder.fetched import HUB
from clearformer.model.build import build
from clearformer.model.weights import start_from, weights_of
from clearformer.run.recipe import Recipe
from clearformer.tasks.model_section import model_config
from clearformer.tasks.task import Prepared, Task
from clearformer.training.tuning import TuningConfig, choose_what_learns

log = logging.getLogger(__name__)


def begin(task: Task, recipe: Recipe, prepared: Prepared[Any], device: torch.device) -> Bundle:
    """Freshly drawn, or as a folder has it, or fewer layers of it."""
    assert task.training is not None
    config = model_config(recipe.model, task.training.sizes(prepared.preprocessing))
    torch.manual_seed(recipe.training.seed)
    model = build(config)
    start, tuning = recipe.model.get("from"), recipe.training.tuning
    if start is not None:
        new = start_from(model, weights_of(bundle.load(Path(start)).model))
        if new:
            log.info("begun with %s; new are %s", start, _shown(new))
        choose_what_learns(model, tuning, new)
        if tuning.rank and open_folder(start).description.adapters:
            raise ValueError(
                f"{start} holds adapters, and new ones want a whole model beside them; merge it first: clearformer "
                f"export {start} FOLDER --to clearformer"
            )
    elif tuning != TuningConfig(layer_decay=tuning.layer_decay):
        raise ValueError("[training.tuning] keeps what a model knows, and there is none to begin with; say model.from")
    return Bundle(
        task=task.name,
        config=config,
        model=model.to(device),
        preprocessing=prepared.preprocessing,
        provenance=provenance(recipe, task.training.facts(recipe)),
        base=start if tuning.rank else None,
    )


def _shown(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 4 else ""
    return ", ".join(names[:3] if more else names) + more


def provenance(recipe: Recipe, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Where a model comes from. facts: what its task has to say."""
    start = str(recipe.model.get("from", ""))
    told = {
        "recipe": recipe.name,
        "begun_with": start if start.startswith(HUB) else None,
        "seed": recipe.training.seed,
        **facts,
        "attribution": recipe.data.attribution,
        "licence": recipe.data.licence,
        "clearformer": __version__,
    }
    return {name: value for name, value in told.items() if value is not None}
