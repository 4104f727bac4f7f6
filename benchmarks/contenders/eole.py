"""eole: EncoderDecoderModel with the configuration classes that its YAML files are read into."""

import protocol
import torch.nn.functional as F
import updates
from eole.config.models import TransformerModelConfig
from eole.config.run import PredictConfig
from eole.config.training import TrainingConfig
from eole.constants import DefaultTokens
from eole.models.model import EncoderDecoderModel
from eole.predict import GNMTGlobalScorer, Translator
from pyonmttok import build_vocab_from_tokens
from torch import Tensor


def main() -> None:
    job = protocol.Job()
    updates.begin(job)
    config = TransformerModelConfig(
        layers=job.layers, hidden_size=job.dim, heads=job.heads, transformer_ff=job.hidden_dim,
        embeddings={"word_vec_size": job.dim, "position_encoding_type": "SinusoidalInterleaved"},
        share_embeddings=True, share_decoder_embeddings=True,
    )  # fmt: skip
    running = TrainingConfig(
        dropout=[job.dropout], attention_dropout=[0.0], world_size=0, gpu_ranks=[], compute_dtype="fp32",
        param_init_method="xavier_uniform",
    )  # fmt: skip
    vocabulary = names(job)
    specials = {"pad_token": DefaultTokens.PAD, "bos_token": DefaultTokens.BOS, "eos_token": DefaultTokens.EOS}
    vocabs = {"src": vocabulary, "tgt": vocabulary, "specials": specials, "decoder_start_token": DefaultTokens.BOS}
    model = EncoderDecoderModel.for_training(config, vocabs, running, device_id=-1)
    if job.task == "train":
        train(job, model)
    else:
        decode(job, model.eval(), vocabs, config)


def train(job: protocol.Job, model: EncoderDecoderModel) -> None:
    def loss(batch: updates.Batch) -> Tensor:
        states = model(batch.source, batch.target, batch.source_lengths).dec_out
        return F.cross_entropy(
            model.generator(states.flatten(0, 1)), batch.target_out.flatten(),
            ignore_index=job.pad, label_smoothing=job.smoothing, reduction="sum",
        )  # fmt: skip

    updates.train(job, model, loss, package="eole")


def decode(job: protocol.Job, model: EncoderDecoderModel, vocabs: dict, config: TransformerModelConfig) -> None:
    """Its own searches, given tensors; it reads no text and writes none."""
    searches = {beam: search(job, model, vocabs, config, beam) for beam in (1, 4)}

    def translate(sources: list[list[int]], beam: int) -> int:
        ids, lengths = updates.pad(sources, job.pad)
        found = searches[beam].predict_batch({"src": ids, "srclen": lengths}, attn_debug=False)
        return sum(len(best[0]) for best in found["predictions"])

    protocol.decode(job, translate, package="eole")


def search(
    job: protocol.Job, model: EncoderDecoderModel, vocabs: dict, config: TransformerModelConfig, beam: int
) -> Translator:
    # Not checked, because the check needs a model file.
    wishes = PredictConfig.model_construct(
        n_best=1, beam_size=beam, min_length=job.length, max_length=job.length, max_length_ratio=0,
        top_k=1 if beam == 1 else 0, top_p=0.0, model_path=["none"], src="none",
    )  # fmt: skip
    scorer = GNMTGlobalScorer(alpha=0.0, beta=0.0, length_penalty="avg", coverage_penalty="none")
    return Translator(model, vocabs, wishes, config, device_id=-1, global_scorer=scorer)


def names(job: protocol.Job) -> object:
    """A vocabulary with the special tokens at the ids that all contenders share."""
    known = {job.pad: DefaultTokens.PAD, job.bos: DefaultTokens.BOS, job.eos: DefaultTokens.EOS, 3: DefaultTokens.UNK}
    return build_vocab_from_tokens([known.get(number, f"w{number}") for number in range(job.vocab_size)])


if __name__ == "__main__":
    main()
