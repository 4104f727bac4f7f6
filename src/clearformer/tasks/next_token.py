"""What tasks share that read one text and write another: the examples, the sizes, and the loss of the next token."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from clearformer.data.collate import PairBatch
from clearformer.data.token_pairs import TokenIds
from clearformer.folder.preprocessing import Preprocessing
from clearformer.model.attention_context import Memory
from clearformer.model.copying import CopyingHead
from clearformer.text.tokenizer import Tokenizer
from clearformer.training.loss import Loss, cross_entropy
from clearformer.training.projected_loss import projected_cross_entropy, projected_r_drop

TokenPair = tuple[TokenIds, TokenIds]  # what is read, what is written
COPIED = 1 << 22  # probabilities of a head that copies, at a time: 16 MB


@dataclass(frozen=True, kw_only=True)
class NextTokenObjective:
    """Cross-entropy of the next target token."""

    smoothing: float = 0.1  # label smoothing: the share of the probability that is spread over all tokens
    r_drop: float = 0.0  # weight of the divergence between two passes with different dropout; 0: one pass

    def __post_init__(self) -> None:
        if not 0 <= self.smoothing < 1:
            raise ValueError(f"objective.smoothing must be at least 0 and below 1, not {self.smoothing}")
        if self.r_drop < 0:
            raise ValueError(f"objective.r_drop must not be negative, but is {self.r_drop}")


def ids_of(tokenizer: Tokenizer, texts: Sequence[str]) -> list[TokenIds]:
    """Texts as ids without special tokens."""
    return [np.array(row, dtype=np.int64) for row in tokenizer.ids(texts, add_special=False)]


def sizes(preprocessing: Preprocessing) -> dict[str, Any]:
    """How many rows the tables of the model have."""
    source, target = preprocessing.sides
    own = {} if preprocessing.target_tokenizer is None else {"target_vocab_size": target.vocab_size}
    return {"vocab_size": source.vocab_size, **own}


def loss(model: nn.Module, batch: PairBatch, objective: NextTokenObjective) -> Loss:
    """Cross-entropy of the next target token. Right padding needs no target mask: no token looks ahead."""
    wanted = batch.target_out[batch.target_keep]
    if getattr(model, "copies", False):
        return _copying_loss(model, batch, wanted, objective)

    def states() -> Tensor:
        made: Tensor = model.states(batch.source, batch.target_in, source_keep=batch.source_keep)  # type: ignore[operator]
        return made[batch.target_keep]  # N D: padding is never scored against the whole vocabulary

    head: Any = model.head
    features, table, bias = head.projection(states())
    if not objective.r_drop or not model.training:  # without dropout two passes would be one
        return projected_cross_entropy(features, table, bias, wanted, smoothing=objective.smoothing)
    again, table, bias = head.projection(states())
    return projected_r_drop(
        features, again, table, bias, wanted, smoothing=objective.smoothing, weight=objective.r_drop
    )


def _copying_loss(model: nn.Module, batch: PairBatch, wanted: Tensor, objective: NextTokenObjective) -> Loss:
    """The same of a head that may copy: it gives probabilities, not the operands of a last product."""
    if objective.r_drop:
        raise ValueError("objective.r_drop does not go with model.head.copy; leave one of them out")
    memory: Memory = model.encode(batch.source, keep=batch.source_keep)  # type: ignore[operator]
    states: Tensor = model.decoder(batch.target_in, memory)  # type: ignore[operator]
    head: Any = model.head
    numbers = torch.arange(len(states), device=states.device)
    most = max(1, COPIED // (states.size(1) * len(head.words.table)))
    total, nll = states.new_zeros((), dtype=torch.float32), states.new_zeros((), dtype=torch.float32)
    for rows in torch.split(numbers, most):
        length = int(batch.target_keep[rows].sum(dim=1).max())  # right padding: what is beyond is nobody's
        here = states[rows, :length], memory.select(rows), batch.target_out[rows, :length]
        # Probabilities of all words are not kept for the backward pass but made again: a batch has gigabytes of them.
        part = checkpoint(
            _copied,
            head,
            *here,
            batch.target_keep[rows, :length],
            objective.smoothing,
            use_reentrant=False,
            preserve_rng_state=False,
        )
        total, nll = total + part.total, nll + part.metrics["nll"]
    return Loss(total, wanted.numel(), {"nll": nll})


def _copied(head: CopyingHead, states: Tensor, memory: Memory, target: Tensor, keep: Tensor, smoothing: float) -> Loss:
    return cross_entropy(head(states, memory), target, keep, smoothing=smoothing)
