"""x-transformers: XTransformer, its encoder–decoder, with the switches that make it the same model."""

import protocol
import torch.nn.functional as F
import updates
from torch import Tensor
from x_transformers import XTransformer


def main() -> None:
    job = protocol.Job()
    updates.begin(job)
    both = {
        "num_tokens": job.vocab_size, "depth": job.layers, "heads": job.heads, "max_seq_len": 1024,
        "attn_dim_head": job.dim // job.heads, "ff_mult": job.hidden_dim / job.dim, "ff_dropout": job.dropout,
        "emb_dropout": job.dropout, "attn_flash": True, "ff_relu_squared": False,
    }  # fmt: skip
    sides = {f"{side}_{name}": value for side in ("enc", "dec") for name, value in both.items()}
    model = XTransformer(dim=job.dim, tie_token_emb=True, **sides)

    def loss(batch: updates.Batch) -> Tensor:
        keep = batch.source_keep
        memory = model.encoder(batch.source, mask=keep, return_embeddings=True)
        logits = model.decoder.net(batch.target_in, context=memory, context_mask=keep)
        return F.cross_entropy(
            logits.flatten(0, 1), batch.target_out.flatten(),
            ignore_index=job.pad, label_smoothing=job.smoothing, reduction="sum",
        )  # fmt: skip

    updates.train(job, model, loss, package="x-transformers")


if __name__ == "__main__":
    main()
