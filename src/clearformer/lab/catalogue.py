"""The closed table of experiments, in the order of the notes' questions; those without a number come last."""

import difflib
import importlib

from clearformer.lab.experiment import Experiment

EXPERIMENTS = (
    "several-heads",
    "shared-projection",
    "shared-keys",
    "dot-or-additive",
    "root-of-width",
    "trained-scorers",
    "padding-mask",
    "head-width",
    "encoder-walk",
    "scaled-embeddings",
    "trained-embeddings",
    "order-blindness",
    "position-waves",
    "shifted-positions",
    "position-cost",
    "longer-than-trained",
    "residual-gradients",
    "norm-place",
    "trained-depth",
    "batch-mates",
    "feed-forward-share",
    "one-position",
    "feed-forward-use",
    "three-families",
    "word-alignment",
    "future-leaks",
    "parallel-work",
    "merged-pieces",
    "vocabulary-sizes",
    "learning-rate",
    "forgotten-dropout",
    "no-recurrence",
    "long-range",
    "cosine-or-dot",
    "marks-example",
    "missing-softmax",
    "masked-scores",
    "softmax-axis",
    "softmax-last",
    "measured-cost",
    "time-and-memory",
    "token-ids",
    "small-table",
    "label-smoothing",
    "search-settings",
    "paper-or-code",
    "learned-table",
    "single-units",
    "newer-ideas",
)


def find_experiment(name: str) -> Experiment:
    """The experiment of that name."""
    if name not in EXPERIMENTS:
        near = difflib.get_close_matches(name, EXPERIMENTS, n=1)
        hint = f"did you mean {near[0]}?" if near else "`clearformer lab` lists them"
        raise ValueError(f"there is no experiment {name!r}; {hint}")
    module = importlib.import_module(f"clearformer.lab.experiments.{name.replace('-', '_')}")
    experiment: Experiment = module.EXPERIMENT
    return experiment


def list_experiments() -> list[Experiment]:
    """All of them."""
    return [find_experiment(name) for name in EXPERIMENTS]
