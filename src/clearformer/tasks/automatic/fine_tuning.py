"""A recipe that begins with a model folder instead of from scratch: rate, steps and head for fine-tuning."""

import math
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import Any

from clearformer.folder.description import ModelFolder
from clearformer.folder.fetched import lasting_name
from clearformer.tasks.task import Choice, Chosen
from clearformer.text.language import guess

RATE = 1.5e-4 * 768  # of the last layer; narrower models stand, and need, larger steps in inverse proportion
LAYER_DECAY = 0.85  # each layer below learns that much slower, so that what is general stays
MOST_RATE = 5e-4
SHARE = 1 / 3  # of the steps from scratch: most of what there is to learn is there already
LEAST_STEPS = 100
STARTS = {"en": "minilm"}  # language -> the name of a published encoder
LOOKED_AT = 300  # texts, to tell their language
ABOUT_THE_START = ("vocabulary", "tokens", "sample rate", "model", "steps")  # choices that a start makes anew


def published_start(texts: Iterable[str]) -> str:
    """A published model that knows the language of these texts; empty where there is none."""
    found = guess("\n".join(islice(texts, LOOKED_AT)))
    return STARTS.get(found.language or "", "") if found is not None else ""


def begin_with(chosen: Chosen, start: ModelFolder, *, reason: str = "--start says so") -> Chosen:
    """The same data and task, from a model folder. Texts are read with the model's own vocabulary."""
    if "from" in chosen.recipe["model"]:  # fine-tuning in any case, of another model than the usual one
        return _from_another(chosen, start, reason)
    described = start.description.model
    dim, longest = int(described.get("dim", 512)), int(described.get("max_len", 512))
    recipe = {name: dict(value) if isinstance(value, dict) else value for name, value in chosen.recipe.items()}
    head, why_head = _head(described, recipe["model"])
    recipe["model"] = {"from": lasting_name(start.path)} | ({"head": head} if head else {}) | _dropout(described)
    if reads := start.preprocessing.tokenizer is not None:  # what was pretrained on sound alone has no vocabulary
        recipe["data"].pop("vocabulary", None)
    read = recipe["data"].get("max_length", longest)
    recipe["data"] |= {"max_length": min(read, longest)} if "max_length" in recipe["data"] else {}
    if described.get("embedding", {}).get("types"):  # these tell one text from the other, and not what both have
        recipe["data"].pop("overlap", None)
    recipe["data"] |= dict(chosen.without_capitals) if _is_uncased(start) else {}
    training = dict(recipe["training"])
    steps = max(LEAST_STEPS, math.ceil(training["steps"] * SHARE / 10) * 10)
    rate = min(MOST_RATE, float(f"{RATE / dim:.2g}"))
    often = max(10, steps // 10)
    training |= {"steps": steps, "save_every": often, "validate_every": often, "log_every": min(50, often)}
    training |= {"schedule": {"kind": "cosine", "peak": rate, "warmup": 0.1}, "tuning": {"layer_decay": LAYER_DECAY}}
    recipe["training"] = _with_rates_of_layers(training)
    kept = [one for one in chosen.choices if one.what not in ABOUT_THE_START]
    layers = described.get("layers", "?")
    return replace(
        chosen,
        recipe=recipe,
        choices=[
            *kept,
            Choice(
                what="model",
                value=f"begins with {start.path} ({layers} layers, {dim} wide)" + ", its vocabulary included" * reads,
                reason=reason,
            ),
            Choice(what="head", value=f"new, over {_pooled(head)}" if head else "new, or its own", reason=why_head),
            Choice(
                what="learning rate",
                value=f"{rate:g} at the most, less by layer downwards",
                reason=f"a model that is {dim} wide forgets what it knows at the rates of training from scratch",
            ),
            Choice(
                what="steps",
                value=f"{steps:,}",
                reason="a third of what it takes from scratch; the best on the development part is kept",
            ),
        ],
    )


def _with_rates_of_layers(training: dict[str, Any]) -> dict[str, Any]:
    """Muon has one rate for all layers."""
    chosen = training.get("optimiser", {})
    return training | ({"optimiser": {**chosen, "kind": "adam"}} if chosen.get("kind") == "muon" else {})


def _from_another(chosen: Chosen, start: ModelFolder, reason: str) -> Chosen:
    kept = [one for one in chosen.choices if one.what != "model"]
    begun = Choice(what="model", value=f"begins with {start.path}", reason=reason)
    model = {**chosen.recipe["model"], "from": lasting_name(start.path)}
    return replace(chosen, recipe={**chosen.recipe, "model": model}, choices=[*kept, begun])


def _dropout(described: Any) -> dict[str, Any]:
    """Published encoders are saved without dropout; a few thousand examples are learned by heart without it."""
    if described.get("shape") != "encoder" or any(described.get("dropout", {}).values()):
        return {}
    return {"dropout": {"embedding": 0.1, "residual": 0.1, "attention": 0.1}}


def _is_uncased(start: ModelFolder) -> bool:
    """Whether the start reads capitals as small letters."""
    tokenizer = start.preprocessing.tokenizer
    return tokenizer is not None and tokenizer.encode("Ada").ids == tokenizer.encode("ada").ids


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
