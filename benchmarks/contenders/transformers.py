"""transformers: MarianMTModel, the library's translation model, trained and decoded as its documentation does."""

import protocol
import torch
import torch.nn.functional as F
import updates
from torch import Tensor
from transformers import MarianConfig, MarianMTModel


def main() -> None:
    job = protocol.Job()
    updates.begin(job)
    model = MarianMTModel(configuration(job))
    if job.task == "train":
        train(job, model)
    else:
        decode(job, model.eval())


def configuration(job: protocol.Job) -> MarianConfig:
    return MarianConfig(
        vocab_size=job.vocab_size, decoder_vocab_size=job.vocab_size, d_model=job.dim, max_position_embeddings=1024,
        encoder_layers=job.layers, decoder_layers=job.layers,
        encoder_attention_heads=job.heads, decoder_attention_heads=job.heads,
        encoder_ffn_dim=job.hidden_dim, decoder_ffn_dim=job.hidden_dim, activation_function="relu",
        dropout=job.dropout, attention_dropout=0.0, activation_dropout=0.0, scale_embedding=True,
        pad_token_id=job.pad, bos_token_id=job.bos, eos_token_id=job.eos, decoder_start_token_id=job.bos,
        forced_eos_token_id=None,
    )  # fmt: skip


def train(job: protocol.Job, model: MarianMTModel) -> None:
    def loss(batch: updates.Batch) -> Tensor:
        logits = model(
            input_ids=batch.source, attention_mask=batch.source_keep.long(), decoder_input_ids=batch.target_in,
            use_cache=False,
        ).logits  # fmt: skip
        return F.cross_entropy(
            logits.flatten(0, 1), batch.target_out.flatten(),
            ignore_index=job.pad, label_smoothing=job.smoothing, reduction="sum",
        )  # fmt: skip

    updates.train(job, model, loss, package="transformers")


def decode(job: protocol.Job, model: MarianMTModel) -> None:
    @torch.inference_mode()
    def translate(sources: list[list[int]], beam: int) -> int:
        ids, lengths = updates.pad(sources, job.pad)
        keep = torch.arange(ids.size(1))[None] < lengths[:, None]
        found = model.generate(
            input_ids=ids, attention_mask=keep.long(), num_beams=beam, do_sample=False,
            min_new_tokens=job.length, max_new_tokens=job.length,
        )  # fmt: skip
        return found[:, 1:].numel()

    protocol.decode(job, translate, package="transformers")


if __name__ == "__main__":
    main()
