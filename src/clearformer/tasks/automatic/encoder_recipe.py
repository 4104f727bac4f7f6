"""The recipe of an encoder that is trained from scratch on somebody's texts, and a reason for each choice.

Tables of labels, tagged words and questions differ in what they count; from there on they are alike.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clearformer.model.cost import count_cost
from clearformer.tasks.model_section import model_config
from clearformer.tasks.task import Choice


@dataclass(frozen=True, kw_only=True)
class EncoderSize:
    """What suits data of up to so many examples, or words."""

    up_to: float
    vocab_size: int
    layers: int
    dim: int
    dropout: float
    peak: float  # learning rate


@dataclass(frozen=True, kw_only=True)
class EncoderPlan:
    """What a task found out about its data.

    data, objective: the recipe's sections, without vocabulary and length. head: what the labels decide. unspaced: the
    texts have no spaces between words, so that pieces are characters. vocabulary: what else is said of it. why: for the
    choices `vocabulary`, `length` and `model`, the reasons. what: is passed over, as in "texts".
    """

    task: str
    name: str
    size: EncoderSize
    data: Mapping[str, Any]
    objective: Mapping[str, Any] = field(default_factory=dict)
    head: Mapping[str, Any]
    model: Mapping[str, Any] = field(default_factory=dict)
    unspaced: bool
    vocabulary: Mapping[str, Any] = field(default_factory=dict)
    length: int
    steps: int
    batch: int
    passes: float
    what: str
    why: Mapping[str, str]


def encoder_recipe(plan: EncoderPlan) -> tuple[dict[str, Any], list[Choice]]:
    """A recipe as plain values, and why it is so."""
    size, often = plan.size, max(25, plan.steps // 10)
    pieces = max(5000, size.vocab_size) if plan.unspaced else size.vocab_size
    kind = {"kind": "character", "min_frequency": 2} if plan.unspaced else {"kind": "wordpiece", **plan.vocabulary}
    model: dict[str, Any] = {
        "family": "bert", "dim": size.dim, "hidden_dim": 2 * size.dim, "layers": size.layers, "max_len": plan.length,
        "attention": {"heads": size.dim // 32}, "norm": {"place": "pre"},
        # How far words are from each other says more than where they stand: résumés 90.5 F1, with learned places 86.5.
        "position": {"kind": "rotary"},
        "dropout": {"embedding": size.dropout, "residual": size.dropout}, **plan.model,
    }  # fmt: skip
    recipe: dict[str, Any] = {
        "task": plan.task,
        "name": plan.name,
        "data": {**plan.data, "max_length": plan.length, "vocabulary": {**kind, "vocab_size": pieces}},
        "model": model,
        **({"objective": dict(plan.objective)} if plan.objective else {}),
        "training": {
            "steps": plan.steps, "save_every": often, "validate_every": often, "log_every": min(50, often),
            "batch_tokens": plan.batch, "schedule": {"kind": "cosine", "peak": size.peak, "warmup": 0.1},
            # On 600 reviews and on 250 résumés, decay of 0.3 and 0.5 with a fifth or more of the words hidden was no
            # better, also with three times the steps: where data is small, several models together are.
            "optimiser": {"kind": "adam", "clip": 1.0, "decay": 0.05},
        },
    }  # fmt: skip
    parameters = count_cost(model_config(model, {"vocab_size": pieces, "head": dict(plan.head)})).total
    lower = ", lower case" if "lowercase" in plan.vocabulary.get("normalise", ()) else ""
    return recipe, [
        Choice(
            what="vocabulary",
            value="characters" if plan.unspaced else f"up to {size.vocab_size:,} word pieces{lower}",
            reason="words are not spaced" if plan.unspaced else plan.why["vocabulary"],
        ),
        Choice(what="length", value=f"{plan.length} tokens", reason=plan.why["length"]),
        Choice(
            what="model",
            value=f"{size.layers} layers, {size.dim} wide, up to {parameters / 1e6:.1f} M parameters, from scratch",
            reason=plan.why["model"],
        ),
        Choice(
            what="steps",
            value=f"{plan.steps:,}",
            reason=f"about {plan.passes:.0f} passes over the {plan.what}; the best on the development part is kept",
        ),
    ]
