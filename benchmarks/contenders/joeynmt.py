"""JoeyNMT: the model that its YAML files describe, its batch and its loss."""

from types import SimpleNamespace

import protocol
import torch
import updates
from joeynmt.batch import Batch
from joeynmt.model import build_model
from joeynmt.vocabulary import Vocabulary
from torch import Tensor


def main() -> None:
    job = protocol.Job()
    updates.begin(job)
    model = build_model(configuration(job), vocabulary := vocabulary_of(job), vocabulary)
    model.loss_function = ("crossentropy", job.smoothing)

    def loss(batch: updates.Batch) -> Tensor:
        theirs = Batch(
            src=renumbered(batch.source), src_length=batch.source_lengths, src_prompt_mask=None,
            trg=renumbered(batch.target),
            trg_prompt_mask=None, indices=torch.arange(len(batch.source)), device=torch.device("cpu"),
            pad_index=1, eos_index=3,
        )  # fmt: skip
        summed, *_ = model(return_type="loss", **vars(theirs))
        return summed

    updates.train(job, model, loss, package="joeynmt")


def configuration(job: protocol.Job) -> dict:
    stack = {
        "type": "transformer", "num_layers": job.layers, "num_heads": job.heads, "hidden_size": job.dim,
        "ff_size": job.hidden_dim, "dropout": job.dropout, "layer_norm": "post",
        "embeddings": {"embedding_dim": job.dim, "scale": True},
    }  # fmt: skip
    return {
        "encoder": stack, "decoder": dict(stack), "tied_embeddings": True, "tied_softmax": True,
        "initializer": "xavier_uniform", "embed_initializer": "xavier_uniform", "bias_initializer": "zeros",
    }  # fmt: skip


def vocabulary_of(job: protocol.Job) -> Vocabulary:
    """As many names as there are ids, the special ones first, in JoeyNMT's fixed order."""
    specials = SimpleNamespace(
        unk_token="<unk>", pad_token="<pad>", bos_token="<s>", eos_token="</s>", sep_token=None, lang_tags=[],
        unk_id=0, pad_id=1, bos_id=2, eos_id=3, sep_id=None,
    )  # fmt: skip
    return Vocabulary([f"w{number}" for number in range(4, job.vocab_size)], specials)


def renumbered(ids: Tensor) -> Tensor:
    """Padding, start, end and unknown are 0 to 3 for everybody else, and 1, 2, 3, 0 for JoeyNMT."""
    return torch.where(ids < 4, (ids + 1) % 4, ids)


if __name__ == "__main__":
    main()
