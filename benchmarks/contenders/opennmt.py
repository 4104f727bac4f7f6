"""OpenNMT-py, both generations: the model that its option parser describes, and its criterion."""

import inspect

import protocol
import torch.nn.functional as F
import updates
from onmt import opts
from onmt.constants import DefaultTokens
from onmt.model_builder import build_base_model
from onmt.translate import GNMTGlobalScorer, Translator
from onmt.utils.parse import ArgumentParser
from pyonmttok import build_vocab_from_tokens
from torch import Tensor, nn


def main() -> None:
    job = protocol.Job()
    updates.begin(job)
    vocabulary = names(job)
    vocabs = {"src": vocabulary, "tgt": vocabulary, "data_task": "seq2seq", "decoder_start_token": DefaultTokens.BOS}
    model = build(options(job), vocabs)
    if job.task == "train":
        train(job, model)
    else:
        decode(job, model.eval(), vocabs)


def train(job: protocol.Job, model: nn.Module) -> None:
    def loss(batch: updates.Batch) -> Tensor:
        states, _ = model(batch.source[..., None], batch.target[..., None], batch.source_lengths)
        return F.cross_entropy(
            model.generator(states.flatten(0, 1)), batch.target_out.flatten(),
            ignore_index=job.pad, label_smoothing=job.smoothing, reduction="sum",
        )  # fmt: skip

    updates.train(job, model, loss, package="OpenNMT-py")


def decode(job: protocol.Job, model: nn.Module, vocabs: dict) -> None:
    """Its own searches, given tensors; it reads no text and writes none."""
    newer = {"max_length_ratio": 0} if "max_length_ratio" in inspect.signature(Translator).parameters else {}
    searches = {
        beam: Translator(
            model, vocabs, n_best=1, beam_size=beam, min_length=job.length, max_length=job.length, **newer,
            random_sampling_topk=1 if beam == 1 else 0, dump_beam="",
            global_scorer=GNMTGlobalScorer(alpha=0.0, beta=0.0, length_penalty="avg", coverage_penalty="none"),
        )
        for beam in (1, 4)
    }  # fmt: skip

    def translate(sources: list[list[int]], beam: int) -> int:
        ids, lengths = updates.pad(sources, job.pad)
        found = searches[beam].translate_batch({"src": ids[..., None], "srclen": lengths}, attn_debug=False)
        return sum(len(best[0]) for best in found["predictions"])

    protocol.decode(job, translate, package="OpenNMT-py")


def options(job: protocol.Job) -> object:
    """What `onmt_train` makes of a command line for a Transformer."""
    parser = ArgumentParser()
    opts.train_opts(parser)
    words = {
        "encoder_type": "transformer", "decoder_type": "transformer", "layers": job.layers, "heads": job.heads,
        "hidden_size": job.dim, "word_vec_size": job.dim, "transformer_ff": job.hidden_dim, "dropout": job.dropout,
        "attention_dropout": 0.0, "data": "{}", "src_vocab": "none",
    }  # fmt: skip
    line = [part for name, value in words.items() for part in (f"-{name}", str(value))]
    chosen, _ = parser.parse_known_args(
        [*line, "-position_encoding", "-share_vocab", "-share_embeddings", "-share_decoder_embeddings"]
    )
    ArgumentParser.update_model_opts(chosen)
    return chosen


def build(chosen: object, vocabs: dict) -> nn.Module:
    """The model with its output layer, weights set as `onmt_train` sets them; the older generation needs the device."""
    place = (False,) if "gpu" in inspect.signature(build_base_model).parameters else ()
    model = build_base_model(chosen, vocabs, *place)
    for name, weight in model.named_parameters():
        if weight.dim() > 1:
            nn.init.xavier_uniform_(weight)
        elif name.endswith("bias"):
            nn.init.zeros_(weight)
    return model


def names(job: protocol.Job) -> object:
    """A vocabulary with the special tokens at the ids that all contenders share."""
    known = {job.pad: DefaultTokens.PAD, job.bos: DefaultTokens.BOS, job.eos: DefaultTokens.EOS, 3: DefaultTokens.UNK}
    return build_vocab_from_tokens([known.get(number, f"w{number}") for number in range(job.vocab_size)])


if __name__ == "__main__":
    main()
