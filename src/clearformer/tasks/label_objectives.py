"""What a classifier of texts is trained to do: one class, several labels, or a number for each text."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, mse_loss

from clearformer.data.collate import LabelledBatch
from clearformer.data.readers.label_cells import LabelKind
from clearformer.model.weights import token_types
from clearformer.training.loss import LEAST, Loss, divergence, learned_from

Each = tuple[Tensor, dict[str, Tensor]]  # the loss of each text, and sums to log
MOST_WEIGHT = 20.0  # of a rare label's examples: beyond this a handful of texts decides everything


@dataclass(frozen=True, kw_only=True)
class LabelObjective:
    """Cross-entropy of the class; of each label where there may be several; squared error of a number."""

    smoothing: float = 0.0  # label smoothing: the share of the probability that is spread over all classes
    balance: float = 0.0  # 0 counts every example alike, 1 every class alike, so that rare classes count more
    teacher_weight: float = 0.5  # lessons: a teacher's share in the loss of a text that has a label, too
    teacher_temperature: float = 2.0  # lessons: above 1, what a teacher finds improbable counts more

    def __post_init__(self) -> None:
        check_lessons(self.teacher_weight, self.teacher_temperature)


@dataclass(frozen=True, kw_only=True)
class CountedObjective(LabelObjective):
    """The same with what only the data knows. counts: training texts with each label; texts: all of them."""

    kind: LabelKind = "one"
    counts: Sequence[int] = ()
    texts: int = 0

    def weights(self) -> Tensor:
        """One class: how much a text of each counts. The mean over all training texts is 1. C."""
        counts = torch.tensor(self.counts, dtype=torch.float32).clamp(min=1)
        shares = counts / counts.sum()
        weights = shares**-self.balance
        return weights / (shares * weights).sum()

    def weights_of_present(self) -> Tensor:
        """Several labels: how much a text that has a label counts beside one that lacks it. C."""
        counts = torch.tensor(self.counts, dtype=torch.float32).clamp(min=1)
        odds = (self.texts - counts).clamp(min=1) / counts
        return (odds**self.balance).clamp(min=1.0, max=MOST_WEIGHT)


def check_lessons(weight: float, temperature: float) -> None:
    """Refuse a share that is none, and a temperature that probabilities cannot have."""
    if not 0 <= weight <= 1:
        raise ValueError(f"objective.teacher_weight is a share between 0 and 1, not {weight}")
    if not 0 < temperature < math.inf:
        raise ValueError(f"objective.teacher_temperature is above 0, not {temperature}")


def loss(model: nn.Module, batch: LabelledBatch, objective: LabelObjective) -> Loss:
    """The loss of a batch by the kind of its labels."""
    extra = {"types": batch.types} if batch.types is not None and token_types(model) > 1 else {}
    logits = model(batch.ids, keep=batch.keep, **extra).float()
    told = objective if isinstance(objective, CountedObjective) else CountedObjective(**vars(objective))
    each, metrics = {"one": _one, "several": _several, "number": _number}[told.kind](logits, batch.labels, told)
    if batch.soft is not None and batch.given is not None:
        each = learned_from(each, _from_teacher(logits, batch.soft, told), batch.given, told.teacher_weight)
    return Loss(each.sum(), len(batch.labels), metrics)


def _from_teacher(logits: Tensor, soft: Tensor, objective: CountedObjective) -> Tensor:
    """How far each text's result is from what the teacher says. soft: B C, probabilities or the number. Returns B."""
    if objective.kind == "number":
        return mse_loss(logits[:, 0], soft[:, 0], reduction="none")
    if objective.kind == "one":
        return divergence(logits, soft, objective.teacher_temperature)
    heat = objective.teacher_temperature
    wanted = (soft.logit(eps=LEAST) / heat).sigmoid()
    return binary_cross_entropy_with_logits(logits / heat, wanted, reduction="none").sum(dim=-1) * heat**2


def _number(logits: Tensor, labels: Tensor, objective: CountedObjective) -> Each:
    """The squared error."""
    return mse_loss(logits[:, 0], labels, reduction="none"), {}


def _one(logits: Tensor, labels: Tensor, objective: CountedObjective) -> Each:
    """Cross-entropy of the class, and how often it was right."""
    log_probs = logits.log_softmax(-1)
    nll = -log_probs.gather(-1, labels[:, None])[:, 0]
    each = (1 - objective.smoothing) * nll - objective.smoothing * log_probs.mean(dim=-1)
    if objective.balance and objective.counts:
        each = each * objective.weights().to(each.device)[labels]
    right = (logits.detach().argmax(dim=-1) == labels).sum()
    return each, {"nll": nll.detach().sum(), "accuracy": right}


def _several(logits: Tensor, labels: Tensor, objective: CountedObjective) -> Each:
    """Binary cross-entropy of every label, summed over labels, and how often all were right."""
    present = objective.weights_of_present().to(logits.device) if objective.balance and objective.counts else None
    goals = labels * (1 - objective.smoothing) + 0.5 * objective.smoothing
    each = binary_cross_entropy_with_logits(logits, goals, pos_weight=present, reduction="none").sum(dim=-1)
    right = ((logits.detach() > 0) == labels.bool()).all(dim=-1).sum()
    return each, {"accuracy": right}
