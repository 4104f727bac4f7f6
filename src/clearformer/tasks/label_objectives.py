"""What a classifier of texts is trained to do: one class, several labels, or a number for each text."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, mse_loss

from clearformer.data.collate import LabelledBatch
from clearformer.data.readers.label_cells import LabelKind
from clearformer.model.weights import token_types
from clearformer.training.loss import Loss

MOST_WEIGHT = 20.0  # of a rare label's examples: beyond this a handful of texts decides everything


@dataclass(frozen=True, kw_only=True)
class LabelObjective:
    """Cross-entropy of the class; of each label where there may be several; squared error of a number."""

    smoothing: float = 0.0  # label smoothing: the share of the probability that is spread over all classes
    balance: float = 0.0  # 0 counts every example alike, 1 every class alike, so that rare classes count more


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


def loss(model: nn.Module, batch: LabelledBatch, objective: LabelObjective) -> Loss:
    """The loss of a batch by the kind of its labels."""
    extra = {"types": batch.types} if batch.types is not None and token_types(model) > 1 else {}
    logits = model(batch.ids, keep=batch.keep, **extra).float()
    told = objective if isinstance(objective, CountedObjective) else CountedObjective(**vars(objective))
    if told.kind == "number":
        each = mse_loss(logits[:, 0], batch.labels, reduction="none")
        return Loss(each.sum(), len(batch.labels), {})
    return (_several if told.kind == "several" else _one)(logits, batch.labels, told)


def _one(logits: Tensor, labels: Tensor, objective: CountedObjective) -> Loss:
    """Cross-entropy of the class, and how often it was right."""
    log_probs = logits.log_softmax(-1)
    nll = -log_probs.gather(-1, labels[:, None])[:, 0]
    each = (1 - objective.smoothing) * nll - objective.smoothing * log_probs.mean(dim=-1)
    if objective.balance and objective.counts:
        each = each * objective.weights().to(each.device)[labels]
    right = (logits.detach().argmax(dim=-1) == labels).sum()
    return Loss(each.sum(), len(labels), {"nll": nll.detach().sum(), "accuracy": right})


def _several(logits: Tensor, labels: Tensor, objective: CountedObjective) -> Loss:
    """Binary cross-entropy of every label, summed over labels, and how often all were right."""
    present = objective.weights_of_present().to(logits.device) if objective.balance and objective.counts else None
    goals = labels * (1 - objective.smoothing) + 0.5 * objective.smoothing
    each = binary_cross_entropy_with_logits(logits, goals, pos_weight=present, reduction="none").sum(dim=-1)
    right = ((logits.detach() > 0) == labels.bool()).all(dim=-1).sum()
    return Loss(each.sum(), len(labels), {"accuracy": right})
