"""Cross-encoders of Sentence Transformers: a classifier with one output that says how well two texts belong together.

Its config.json names the function that the score goes through. Newer releases of the library write it into a table of
their own, older ones under a key of its own; one that is not known here is refused by name.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from clearformer.folder.preprocessing import Outcome
from clearformer.interop.config_keys import shown

TABLE, OLD_KEY = "sentence_transformers", "sbert_ce_default_activation_function"
_SIGMOID, _IDENTITY = "torch.nn.modules.activation.Sigmoid", "torch.nn.modules.linear.Identity"
_SQUASHED = {_SIGMOID: True, _IDENTITY: False, "torch.nn.Sigmoid": True, "torch.nn.Identity": False}


def scored(outcome: Outcome, plain: Mapping[str, Any]) -> Outcome:
    """The outcome with the function that config.json names, if it is a cross-encoder's.

    The library takes the logistic function where a table of its own names none and there is one output.
    """
    table = plain.get(TABLE)
    if table is not None and not isinstance(table, Mapping):
        raise ValueError(f"config.json: {TABLE} must be a table, not {shown(table)}")
    key, named = f"{TABLE}.activation_fn", None if table is None else table.get("activation_fn")
    if table is None or "activation_fn" not in table:
        key, named = OLD_KEY, plain.get(OLD_KEY)
    if named is None:
        return replace(outcome, squashed=True) if table is not None and outcome.kind == "number" else outcome
    if not isinstance(named, str) or named not in _SQUASHED:
        raise ValueError(f"config.json: {key} is {shown(named)}; known are {', '.join(_SQUASHED)}")
    if outcome.kind == "number":
        return replace(outcome, squashed=_SQUASHED[named])
    if _SQUASHED[named] and outcome.kind == "one":
        raise ValueError(
            f"config.json: {key} is {named}, which takes each class for itself; write problem_type = "
            "multi_label_classification there to import it as such"
        )
    return outcome


def written_score(outcome: Outcome) -> dict[str, Any]:
    """The same for a model that is exported: without it, the library would squash every single output."""
    return {TABLE: {"activation_fn": _SIGMOID if outcome.squashed else _IDENTITY}}
