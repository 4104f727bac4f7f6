"""ModernBERT (Warner et al., 2024): a pre-norm BERT with rotary positions, GeGLU, and windows in most layers.

The embeddings are normed, so the first attention has no norm of its own; every head but the plain states has BERT's
dense layer, activation and norm before it.
"""

from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.architectures import refuse_heads, task_head
from clearformer.interop.hf.bert import ACTIVATIONS, HEADS, prefixed
from clearformer.interop.hf.rotary import LayerWindows, layer_types, two_bases, written_bases
from clearformer.interop.renaming import RenamingTable, Rule, pairs, under
from clearformer.model.config import (
    Activation,
    AttentionConfig,
    DropoutConfig,
    EmbeddingConfig,
    HeadConfig,
    ModelConfig,
    NormConfig,
)
from clearformer.model.families import modernbert

MODEL_TYPES = ("modernbert",)
PREFIX = "model."
_POOLS = {"cls": "first", "mean": "mean"}
_SPELT: dict[Activation, str] = {ours: theirs for theirs, ours in reversed(ACTIVATIONS.items())}


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    keys.ignore("deterministic_flash_attn", "sparse_prediction", "sparse_pred_ignore_index", "reference_compile")
    keys.ignore("initializer_cutoff_factor", "repad_logits_with_grad", "cls_token_id", "layer_norm_eps")
    keys.must("position_embedding_type", "absolute", "sans_pos")  # written into old files, and read by nobody
    keys.padding()
    layers, tied = keys.layers("num_hidden_layers"), keys.flag("tie_word_embeddings")
    windows = _windows(keys, layers)
    config = modernbert(
        vocab_size=keys.size("vocab_size"),
        dim=keys.size("hidden_size"),
        hidden_dim=keys.size("intermediate_size"),
        layers=layers,
        max_len=keys.size("max_position_embeddings"),
        heads=keys.size("num_attention_heads", most=4096),
        attention=AttentionConfig(bias=keys.flag("attention_bias"), window=windows.back, wide=windows.wide),
        position=two_bases(keys, far="global_rope_theta", near="local_rope_theta", scaling=False),
        norm=NormConfig(place="pre", bias=keys.flag("norm_bias"), eps=keys.not_negative("norm_eps"), first=False),
        activation=keys.choice("hidden_activation", ACTIVATIONS),
        bias=keys.flag("mlp_bias"),
        dropout=DropoutConfig(
            embedding=keys.rate("embedding_dropout"),
            residual=0.0,
            attention=keys.rate("attention_dropout"),
            activation=keys.rate("mlp_dropout"),
        ),
        embedding=EmbeddingConfig(norm=True, tie="all" if tied else "none"),
        head=_head(keys),
        init_std=keys.not_negative("initializer_range"),
    )
    keys.finish()
    return config


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    heads, head = config.attention, config.head
    back = {ours: theirs for theirs, ours in _POOLS.items()}
    return {
        "model_type": "modernbert",
        "vocab_size": config.vocab_size,
        "hidden_size": config.dim,
        "intermediate_size": config.hidden_dim,
        "num_hidden_layers": config.layers,
        "num_attention_heads": heads.heads,
        "max_position_embeddings": config.max_len,
        "attention_bias": heads.bias,
        "local_attention": 2 * (heads.window or 64),
        "layer_types": layer_types(heads.window, heads.wide, config.layers),
        "rope_parameters": written_bases(config.position),
        "norm_bias": config.norm.bias,
        "norm_eps": config.norm.eps,
        "hidden_activation": _SPELT[config.activation],
        "mlp_bias": config.bias,
        "embedding_dropout": config.dropout.embedding,
        "attention_dropout": config.dropout.attention,
        "mlp_dropout": config.dropout.activation,
        "tie_word_embeddings": config.embedding.tie in ("all", "output"),
        "initializer_range": config.init_std or 0.02,
        "decoder_bias": head.bias,
        "classifier_pooling": back.get(head.pool, "cls"),
        "classifier_dropout": head.dropout,
        "classifier_bias": head.transform_bias,
        "classifier_activation": _SPELT[head.transform_activation or config.activation],
    }


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs. Queries, keys and values are one matrix, and so are the two halves of the gated part."""
    prefix = "" if config.head.kind == "states" else PREFIX
    layer = [
        Rule(tuple(f"self_attn.{letter}_proj" for letter in "qkv"), "attn.Wqkv"),
        Rule(("ffn.gate_proj", "ffn.up_proj"), "mlp.Wi"),
        *pairs(
            {
                "self_attn.out_proj": "attn.Wo",
                "self_attn_residual.before": "attn_norm",
                "ffn.down_proj": "mlp.Wo",
                "ffn_residual.before": "mlp_norm",
            }
        ),
    ]
    body = [
        *pairs({"encoder.front.embed": "embeddings.tok_embeddings", "encoder.front.norm": "embeddings.norm"}),
        *under("encoder.layers.*", "layers.*", layer),
        Rule("encoder.norm", "final_norm"),
    ]
    tops = pairs(
        {
            "head.transform.0": "head.dense",
            "head.transform.2": "head.norm",
            "head.table": "decoder.weight",
            "head.bias": "decoder.bias",
            "head.classify": "classifier",
            "head.mark": "classifier",
        }
    )
    tied = config.head.kind == "language-model" and config.embedding.tie != "none"
    return RenamingTable(
        [*prefixed(prefix, body), *tops],
        copies={"decoder.weight": f"{prefix}embeddings.tok_embeddings.weight"} if tied else {},
        aside={"*rotary_emb.*inv_freq": "angles that follow from config.json"},
    )


def _windows(keys: Keys, layers: int) -> LayerWindows:
    """local_attention counts both sides."""
    every = keys.size("global_attn_every_n_layers") if "global_attn_every_n_layers" in keys.plain else 3
    keys.ignore("global_attn_every_n_layers")
    sliding = {layer: layer % every != 0 for layer in range(layers)}
    return LayerWindows.read(keys, layers, width=keys.size("local_attention") // 2 + 1, sliding=sliding)


def _head(keys: Keys) -> HeadConfig:
    kind = refuse_heads(keys, *HEADS)
    activation = keys.choice("classifier_activation", ACTIVATIONS)
    given: dict[str, Any] = {
        "transform": True,
        "transform_activation": activation,
        "transform_bias": keys.flag("classifier_bias"),
    }
    pool, drop, bias = (
        keys.choice("classifier_pooling", _POOLS),
        keys.rate("classifier_dropout"),
        keys.flag("decoder_bias"),
    )
    if kind == "states":
        return HeadConfig(kind="states")
    if kind == "language-model":
        return HeadConfig(bias=bias, **given)
    if kind == "span":
        return HeadConfig(kind="span", **given)
    return task_head(keys, kind, dropout=drop, **given, **({"pool": pool} if kind == "class" else {}))
