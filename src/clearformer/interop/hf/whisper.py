"""Whisper (Radford et al., 2022): from log-mel frames to text."""

from typing import Any

import torch
from torch import Tensor

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.architectures import refuse_heads
from clearformer.interop.hf.bart import PREFIX, STACKS, stacks
from clearformer.interop.hf.bert import ACTIVATIONS
from clearformer.interop.renaming import RenamingTable, Rule, pairs
from clearformer.model.config import AttentionConfig, DropoutConfig, EmbeddingConfig, FrontConfig, ModelConfig
from clearformer.model.families import whisper
from clearformer.model.positions import Tensor2TensorSinusoidal

MODEL_TYPES = ("whisper",)
SOURCE_POSITIONS = 1500  # thirty seconds; sinusoidal positions have no limit themselves


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    refuse_heads(keys, "language-model")
    keys.must("tie_word_embeddings", True)
    keys.must("is_encoder_decoder", True)
    keys.must("scale_embedding", False)
    keys.must("use_weighted_layer_sum", False)
    keys.padding()
    keys.ignore("encoder_layerdrop", "decoder_layerdrop", "chunk_size_feed_forward")
    keys.ignore("classifier_proj_size", "median_filter_width", "apply_spec_augment", "alignment_heads", "lang_ids")
    keys.ignore(*(f"mask_{kind}_{what}" for kind in ("time", "feature") for what in ("prob", "length", "min_masks")))
    dim, wide = keys.size("d_model", "hidden_size"), keys.size("encoder_ffn_dim")
    heads = keys.size("encoder_attention_heads", "num_attention_heads", "num_key_value_heads")
    keys.shape("encoder.embed_positions.weight", keys.size("max_source_positions"), dim)
    keys.must("decoder_attention_heads", heads)
    keys.must("decoder_ffn_dim", wide)
    drop = keys.rate("dropout")
    config = whisper(
        vocab_size=keys.size("vocab_size"),
        dim=dim,
        hidden_dim=wide,
        layers=keys.layers("encoder_layers", "num_hidden_layers"),
        decoder_layers=keys.layers("decoder_layers"),
        max_len=keys.size("max_target_positions"),
        attention=AttentionConfig(heads=heads, key_bias=False),
        activation=keys.choice("activation_function", ACTIVATIONS),
        dropout=DropoutConfig(
            embedding=drop,
            residual=drop,
            attention=keys.rate("attention_dropout"),
            activation=keys.rate("activation_dropout"),
        ),
        front=FrontConfig(kind="sound", mels=keys.size("num_mel_bins")),
        embedding=EmbeddingConfig(tie="output"),
        init_std=keys.not_negative("init_std"),
    )
    keys.finish()
    return config


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    heads = config.attention.heads
    return {
        "model_type": "whisper",
        "vocab_size": config.vocab_size,
        "d_model": config.dim,
        "encoder_layers": config.layers,
        "decoder_layers": config.decoder_layers or config.layers,
        "encoder_ffn_dim": config.hidden_dim,
        "decoder_ffn_dim": config.hidden_dim,
        "encoder_attention_heads": heads,
        "decoder_attention_heads": heads,
        "max_target_positions": config.max_len,
        "max_source_positions": SOURCE_POSITIONS,
        "num_mel_bins": config.front.mels,
        "activation_function": {ours: theirs for theirs, ours in reversed(ACTIVATIONS.items())}[config.activation],
        "dropout": config.dropout.residual,
        "attention_dropout": config.dropout.attention,
        "activation_dropout": config.dropout.activation,
        "init_std": config.init_std or 0.02,
        "is_encoder_decoder": True,
    }


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs."""
    ends = pairs(
        {
            "encoder.front.narrow": f"{PREFIX}encoder.conv1",
            "encoder.front.halve": f"{PREFIX}encoder.conv2",
            "decoder.front.embed": f"{PREFIX}decoder.embed_tokens",
            "decoder.front.position.table": f"{PREFIX}decoder.embed_positions",
        }
    )
    waves = f"{PREFIX}encoder.embed_positions.weight"
    norms = [Rule(f"{stack}.norm", f"{PREFIX}{stack}.layer_norm") for stack in STACKS]
    return RenamingTable(
        [*ends, *norms, *stacks(PREFIX, "pre")],
        copies={"proj_out.weight": f"{PREFIX}decoder.embed_tokens.weight"},
        fixed={waves: _waves},
        made={waves: (SOURCE_POSITIONS, config.dim)},
    )


def _waves(shape: tuple[int, ...]) -> Tensor:
    return Tensor2TensorSinusoidal(shape[-1]).embed(torch.arange(shape[0]))
