"""DistilBERT (Sanh et al., 2019): BERT without token types and pooler, under other names."""

from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.architectures import refuse_heads, task_head
from clearformer.interop.hf.bert import ACTIVATIONS, HEADS, prefixed
from clearformer.interop.renaming import RenamingTable, pairs, under
from clearformer.model.config import (
    DropoutConfig,
    EmbeddingConfig,
    HeadConfig,
    ModelConfig,
    NormConfig,
)
from clearformer.model.families import distilbert

MODEL_TYPES = ("distilbert",)
PREFIX = "distilbert."

LAYER = pairs(
    {
        "self_attn.q_proj": "attention.q_lin",
        "self_attn.k_proj": "attention.k_lin",
        "self_attn.v_proj": "attention.v_lin",
        "self_attn.out_proj": "attention.out_lin",
        "self_attn_residual.after": "sa_layer_norm",
        "ffn.up_proj": "ffn.lin1",
        "ffn.down_proj": "ffn.lin2",
        "ffn_residual.after": "output_layer_norm",
    }
)
EMBEDDINGS = pairs(
    {
        "encoder.front.embed": "embeddings.word_embeddings",
        "encoder.front.position.table": "embeddings.position_embeddings",
        "encoder.front.norm": "embeddings.LayerNorm",
    }
)
TOPS = pairs(
    {
        "head.transform.0": "vocab_transform",
        "head.transform.2": "vocab_layer_norm",
        "head.table": "vocab_projector.weight",
        "head.bias": "vocab_projector.bias",
        "head.pooler": "pre_classifier",
        "head.classify": "classifier",
        "head.mark": "qa_outputs",
    }
)


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json. sinusoidal_pos_embds only says how the table of positions was first filled."""
    keys.must("tie_word_embeddings", True)
    keys.must("tie_weights_", True)
    keys.padding()
    keys.ignore("sinusoidal_pos_embds", "chunk_size_feed_forward", "is_encoder_decoder", "is_decoder")
    drop = keys.rate("dropout")
    config = distilbert(
        vocab_size=keys.size("vocab_size"),
        dim=keys.size("dim", "hidden_size"),
        hidden_dim=keys.size("hidden_dim"),
        layers=keys.layers("n_layers", "num_hidden_layers"),
        max_len=keys.size("max_position_embeddings"),
        heads=keys.size("n_heads", "num_attention_heads"),
        norm=NormConfig(eps=1e-12),  # hard-coded in the published code
        activation=keys.choice("activation", ACTIVATIONS),
        dropout=DropoutConfig(embedding=drop, residual=drop, activation=0.0, attention=keys.rate("attention_dropout")),
        embedding=EmbeddingConfig(norm=True),
        head=_head(keys, drop),
        init_std=keys.not_negative("initializer_range"),
    )
    keys.finish()
    return config


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    spelt = {ours: theirs for theirs, ours in reversed(ACTIVATIONS.items())}
    return {
        "model_type": "distilbert",
        "vocab_size": config.vocab_size,
        "dim": config.dim,
        "hidden_dim": config.hidden_dim,
        "n_layers": config.layers,
        "n_heads": config.attention.heads,
        "max_position_embeddings": config.max_len,
        "activation": spelt[config.activation],
        "dropout": config.dropout.residual,
        "attention_dropout": config.dropout.attention,
        "seq_classif_dropout": config.head.dropout,
        "initializer_range": config.init_std or 0.02,
    }


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs."""
    prefix = "" if config.head.kind == "states" else PREFIX
    body = [*EMBEDDINGS, *under("encoder.layers.*", "transformer.layer.*", LAYER)]
    words = f"{prefix}embeddings.word_embeddings.weight"
    return RenamingTable(
        [*prefixed(prefix, body), *TOPS],
        copies={"vocab_projector.weight": words} if config.head.kind == "language-model" else {},
        aside={"*embeddings.position_ids": "the numbers 0, 1, 2, …"},
    )


def _head(keys: Keys, drop: float) -> HeadConfig:
    kind = refuse_heads(keys, *HEADS)
    keys.ignore("qa_dropout", "seq_classif_dropout")
    if kind == "states":
        return HeadConfig(kind="states")
    if kind == "language-model":
        return HeadConfig(transform=True, bias=True)
    if kind == "class":
        rate = keys.rate("seq_classif_dropout")
        return task_head(keys, kind, dropout=rate, pooler=True, pooler_activation="relu")
    return task_head(keys, kind, dropout=drop)
