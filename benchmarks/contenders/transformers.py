"""transformers: MarianMTModel, the library's translation model, trained and decoded as its documentation does.

Two ways to train: a loop of one's own, and the library's Trainer (options = { trainer = "yes" }).
"""

import tempfile
import time
from collections.abc import Iterator
from importlib import metadata

import protocol
import torch
import torch.nn.functional as F
import updates
from torch import Tensor
from transformers import MarianConfig, MarianMTModel, Trainer, TrainerCallback, TrainingArguments

IGNORED = -100  # a label that the library does not learn from


def main() -> None:
    job = protocol.Job()
    updates.begin(job)
    model = MarianMTModel(configuration(job))
    if job.options.get("trainer"):
        train_with_trainer(job, model)
    elif job.task == "train":
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


class Ready(torch.utils.data.IterableDataset):
    """Whole batches, the same as for all contenders."""

    def __init__(self, job: protocol.Job) -> None:
        self.job = job

    def __iter__(self) -> Iterator[dict[str, Tensor]]:
        for batch in updates.batches(self.job):
            labels = batch.target_out.masked_fill(batch.target_out == self.job.pad, IGNORED)
            yield {
                "input_ids": batch.source, "attention_mask": batch.source_keep.long(),
                "decoder_input_ids": batch.target_in, "labels": labels,
            }  # fmt: skip


class Clock(TrainerCallback):
    """Starts when the warm-up is over and stops the training when the time is up."""

    def __init__(self, job: protocol.Job) -> None:
        self.job, self.steps, self.tokens = job, 0, 0
        self.waiting = [batch.tokens for _, batch in zip(range(4096), updates.batches(job), strict=False)]

    def on_step_end(self, args: object, state: object, control: object, **others: object) -> None:
        self.steps += 1
        if self.steps == protocol.WARM_UP:
            self.started = time.perf_counter()
        elif self.steps > protocol.WARM_UP:
            self.tokens += self.waiting[(self.steps - 1) % len(self.waiting)]
            self.spent = time.perf_counter() - self.started
            control.should_training_stop = self.spent >= self.job.seconds


def train_with_trainer(job: protocol.Job, model: MarianMTModel) -> None:
    clock = Clock(job)
    with tempfile.TemporaryDirectory() as aside:
        arguments = TrainingArguments(
            output_dir=aside, use_cpu=True, max_steps=100_000, per_device_train_batch_size=1, learning_rate=1e-4,
            label_smoothing_factor=job.smoothing, max_grad_norm=1.0, optim="adamw_torch_fused", weight_decay=0.0,
            adam_beta2=0.98, adam_epsilon=1e-9, save_strategy="no", report_to=[], disable_tqdm=True, seed=1,
            logging_strategy="no",
        )  # fmt: skip
        Trainer(
            model, arguments, train_dataset=Ready(job), data_collator=lambda rows: rows[0], callbacks=[clock]
        ).train()
    job.report(
        job.case, "target tokens", clock.tokens, clock.spent, version=metadata.version("transformers"),
        parameters=sum(p.numel() for p in model.parameters()), updates=clock.steps - protocol.WARM_UP,
    )  # fmt: skip


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
