"""torch.nn.Transformer, with what a user must add: embeddings, positions, output layer, masks."""

import math

import protocol
import torch
import torch.nn.functional as F
import updates
from torch import Tensor, nn


class Translator(nn.Module):
    """PyTorch's own encoder–decoder with one table for both languages and the output."""

    def __init__(self, job: protocol.Job) -> None:
        super().__init__()
        self.table = nn.Embedding(job.vocab_size, job.dim, padding_idx=job.pad)
        nn.init.normal_(self.table.weight, std=job.dim**-0.5)
        self.register_buffer("waves", waves(1024, job.dim))
        self.dropout = nn.Dropout(job.dropout)
        self.stacks = nn.Transformer(
            job.dim, job.heads, job.layers, job.layers, job.hidden_dim, job.dropout, batch_first=True
        )

    def embed(self, ids: Tensor) -> Tensor:
        return self.dropout(self.table(ids) * math.sqrt(self.table.embedding_dim) + self.waves[: ids.size(1)])

    def forward(self, batch: updates.Batch) -> Tensor:
        """Returns the states of the target positions: B T D."""
        length = batch.target_in.size(1)
        closed = torch.ones(length, length, dtype=torch.bool).triu(1)
        empty = ~batch.source_keep
        return self.stacks(
            self.embed(batch.source), self.embed(batch.target_in),
            tgt_mask=closed, tgt_is_causal=True, src_key_padding_mask=empty, memory_key_padding_mask=empty,
        )  # fmt: skip


def waves(length: int, dim: int) -> Tensor:
    angles = torch.arange(length)[:, None] * torch.exp(torch.arange(0, dim, 2) * (-math.log(10_000.0) / dim))
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)


def main() -> None:
    job = protocol.Job()
    updates.begin(job)
    model = Translator(job)

    def loss(batch: updates.Batch) -> Tensor:
        logits = F.linear(model(batch), model.table.weight)
        return F.cross_entropy(
            logits.flatten(0, 1), batch.target_out.flatten(),
            ignore_index=job.pad, label_smoothing=job.smoothing, reduction="sum",
        )  # fmt: skip

    updates.train(job, model, loss, package="torch")


if __name__ == "__main__":
    main()
