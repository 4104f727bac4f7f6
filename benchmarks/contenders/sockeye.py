"""sockeye: SockeyeModel and its own loss, configured as `sockeye-train` does for a Transformer."""

import numpy

for name, kind in (("bool", bool), ("int", int), ("float", float), ("object", object)):
    if name not in vars(numpy):  # names that NumPy removed after sockeye's last release
        setattr(numpy, name, kind)

import protocol  # noqa: E402
import updates  # noqa: E402
from sockeye import constants, data_io, encoder, loss, model, transformer  # noqa: E402
from torch import Tensor  # noqa: E402

LONGEST = 1024


def main() -> None:
    job = protocol.Job()
    updates.begin(job)
    stack = transformer.TransformerConfig(
        model_size=job.dim, attention_heads=job.heads, feed_forward_num_hidden=job.hidden_dim, act_type="relu",
        num_layers=job.layers, dropout_attention=0.0, dropout_act=0.0, dropout_prepost=job.dropout,
        positional_embedding_type="fixed", preprocess_sequence="n", postprocess_sequence="dr",
        max_seq_len_source=LONGEST, max_seq_len_target=LONGEST, depth_key_value=job.dim,
    )  # fmt: skip
    table = encoder.EmbeddingConfig(vocab_size=job.vocab_size, num_embed=job.dim, dropout=job.dropout)
    data = data_io.DataConfig(
        data_statistics=None, max_seq_len_source=LONGEST, max_seq_len_target=LONGEST,
        num_source_factors=1, num_target_factors=1,
    )  # fmt: skip
    network = model.SockeyeModel(
        model.ModelConfig(
            config_data=data, vocab_source_size=job.vocab_size, vocab_target_size=job.vocab_size,
            config_embed_source=table, config_embed_target=table, config_encoder=stack, config_decoder=stack,
            weight_tying_type=constants.WEIGHT_TYING_SRC_TRG_SOFTMAX,
        )
    )  # fmt: skip
    network.apply(model.initialize_parameters)
    criterion = loss.CrossEntropyLoss(label_smoothing=job.smoothing, ignore_label=job.pad)

    def summed(batch: updates.Batch) -> Tensor:
        lengths = batch.source_lengths[:, None].expand(-1, 2)
        outputs = network(batch.source[..., None], lengths, batch.target_in[..., None], batch.target_lengths)
        value, _ = criterion(outputs, {constants.TARGET_LABEL_NAME: batch.target_out})
        return value * batch.tokens  # theirs is a mean

    updates.train(job, network, summed, package="sockeye")


if __name__ == "__main__":
    main()
