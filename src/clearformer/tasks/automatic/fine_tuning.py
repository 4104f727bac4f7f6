"""A recipe that begins with a model folder instead of from scratch: rate, steps and head for fine-tuning."""

import math
from dataclasses import replace
from typing import Any

from clearformer.folder.description import ModelFolder
from clearformer.tasks.task import Choice, Chosen

RATE = 5e-5 * 768  # what suits BERT-base; narrower models stand, and need, larger steps in inverse proportion
MOST_RATE = 5e-4
SHARE = 1 / 3  # of the steps from scratch: most of what there is to learn is there already
LEAST_STEPS = 100
ABOUT_THE_START = ("vocabulary", "model", "steps")  # choices that a start makes anew


def begin_with(chosen: Chosen, start: ModelFolder) -> Chosen:
    """The same data and task, from a model folder. Texts are read with the model's own vocabulary."""
    if "from" in chosen.recipe["model"]:  # fine-tuning in any case, of another model than the usual one
        return _from_another(chosen, start)
    described = start.description.model
    dim, longest = int(described.get("dim", 512)), int(described.get("max_len", 512))
    recipe = {name: dict(value) if isinstance(value, dict) else value for name, value in chosen.recipe.items()}
    head, reason = _head(described, recipe["model"])
    recipe["model"] = {"from": str(start.path.resolve())} | ({"head": head} if head else {})
    recipe["data"].pop("vocabulary", None)
    read = recipe["data"].get("max_length", longest)
    recipe["data"] |= {"max_length": min(read, longest)} if "max_length" in recipe["data"] else {}
    training = dict(recipe["training"])
    steps = max(LEAST_STEPS, math.ceil(training["steps"] * SHARE / 10) * 10)
    rate = min(MOST_RATE, float(f"{RATE / dim:.1g}"))
    often = max(10, steps // 10)
    training |= {"steps": steps, "save_every": often, "validate_every": often, "log_every": min(50, often)}
    training |= {"schedule": {"kind": "cosine", "peak": rate, "warmup": 0.1}}
    recipe["training"] = training
    kept = [one for one in chosen.choices if one.what not in ABOUT_THE_START]
    layers = described.get("layers", "?")
    return replace(
        chosen,
        recipe=recipe,
        choices=[
            *kept,
            Choice(
                what="model",
                value=f"begins with {start.path} ({layers} layers, {dim} wide), its vocabulary included",
                reason="--start says so",
            ),
            Choice(what="head", value=f"new, over {_pooled(head)}" if head else "new, or its own", reason=reason),
            Choice(
                what="learning rate",
                value=f"{rate:g} at the most",
                reason=f"a model that is {dim} wide forgets what it knows at the rates of training from scratch",
            ),
            Choice(
                what="steps",
                value=f"{steps:,}",
                reason="a third of what it takes from scratch; the best on the development part is kept",
            ),
        ],
    )


def _from_another(chosen: Chosen, start: ModelFolder) -> Chosen:
    kept = [one for one in chosen.choices if one.what != "model"]
    begun = Choice(what="model", value=f"begins with {start.path}", reason="--start says so")
    model = {**chosen.recipe["model"], "from": str(start.path.resolve())}
    return replace(chosen, recipe={**chosen.recipe, "model": model}, choices=[*kept, begun])


def _head(described: Any, wanted: Any) -> tuple[dict[str, Any], str]:
    """How the states of a text become one, where the task needs that: as the model does it, or else their mean."""
    own = described.get("head", {})
    if "pool" not in wanted.get("head", {}):
        return {}, "the task's own head stands on every token"
    if own.get("kind") == "class":
        return {}, "the model has one for whole texts already, which is kept as far as its classes are the same"
    return {"pool": "mean", "pooler": False, "dropout": 0.1}, "the mean of all tokens suits any encoder"


def _pooled(head: dict[str, Any]) -> str:
    return "the mean of the tokens" if head.get("pool") == "mean" else "its own summary"
