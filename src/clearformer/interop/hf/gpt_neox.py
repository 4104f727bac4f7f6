"""GPT-NeoX (Black et al., 2022) and Pythia: attention and feed-forward side by side, and heads that turn in part."""

from dataclasses import replace
from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.architectures import classifier_dropout, refuse_heads, task_head
from clearformer.interop.hf.bert import ACTIVATIONS
from clearformer.interop.hf.rotary import position, written
from clearformer.interop.renaming import RenamingTable, Rule, pairs, under
from clearformer.model.config import (
    AttentionConfig,
    DropoutConfig,
    EmbeddingConfig,
    HeadConfig,
    ModelConfig,
    NormConfig,
)
from clearformer.model.families import gpt2

MODEL_TYPES = ("gpt_neox",)
PREFIX = "gpt_neox."


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    kind = refuse_heads(keys, "language-model", "states", "class", "tags", "span")
    keys.must("is_decoder", False, True)
    keys.must("add_cross_attention", False)
    dim, heads = keys.size("hidden_size"), keys.size("num_attention_heads", most=4096)
    base = keys.plain.get("rotary_emb_base")
    keys.ignore("rotary_emb_base")
    drop = keys.rate("hidden_dropout")
    bias = keys.flag("attention_bias")
    config = gpt2(
        vocab_size=keys.size("vocab_size"),
        dim=dim,
        hidden_dim=keys.size("intermediate_size"),
        layers=keys.layers("num_hidden_layers"),
        max_len=keys.size("max_position_embeddings"),
        attention=AttentionConfig(heads=heads, bias=bias),
        position=position(keys, width=dim // heads, partial=True),
        norm=NormConfig(place="pre", eps=keys.not_negative("layer_norm_eps")),
        activation=keys.choice("hidden_act", ACTIVATIONS),
        parallel=keys.flag("use_parallel_residual"),
        dropout=DropoutConfig(embedding=drop, residual=drop, attention=keys.rate("attention_dropout")),
        embedding=EmbeddingConfig(tie="all" if keys.flag("tie_word_embeddings") else "none"),
        head=_head(keys, kind),
        init_std=keys.not_negative("initializer_range"),
    )
    if base is not None and base != config.position.base:
        raise ValueError(
            f"{keys.where}: rotary_emb_base is {base!r}, but the angles are those of {config.position.base}"
        )
    keys.finish()
    return replace(config, family="gpt_neox")


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    width = config.dim // config.attention.heads
    rope = written(config.position) | {"partial_rotary_factor": (config.position.turned or width) / width}
    return {
        "model_type": "gpt_neox",
        "vocab_size": config.vocab_size,
        "hidden_size": config.dim,
        "intermediate_size": config.hidden_dim,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.attention.heads,
        "max_position_embeddings": config.max_len,
        "attention_bias": config.attention.bias,
        "layer_norm_eps": config.norm.eps,
        "hidden_act": {ours: theirs for theirs, ours in reversed(ACTIVATIONS.items())}[config.activation],
        "use_parallel_residual": config.parallel,
        "hidden_dropout": config.dropout.residual,
        "attention_dropout": config.dropout.attention,
        "rope_parameters": rope,
        "tie_word_embeddings": config.embedding.tie in ("all", "output"),
        "initializer_range": config.init_std or 0.02,
        **({"classifier_dropout": config.head.dropout} if config.head.kind == "tags" else {}),
    }


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs. Queries, keys and values are one matrix, head by head."""
    prefix = "" if config.head.kind == "states" else PREFIX
    joined = tuple(f"self_attn.{letter}_proj" for letter in "qkv")
    layer = [
        Rule(joined, "attention.query_key_value", heads=config.attention.heads),
        *pairs(
            {
                "self_attn.out_proj": "attention.dense",
                "self_attn_residual.before": "input_layernorm",
                "ffn.up_proj": "mlp.dense_h_to_4h",
                "ffn.down_proj": "mlp.dense_4h_to_h",
                "ffn_residual.before": "post_attention_layernorm",
            }
        ),
    ]
    ends = pairs({"decoder.front.embed": f"{prefix}embed_in", "decoder.norm": f"{prefix}final_layer_norm"})
    classify = "score" if config.head.kind == "class" else "classifier"
    tops = pairs({"head.table": "embed_out.weight", "head.classify": classify, "head.mark": "qa_outputs"})
    tied = config.embedding.tie in ("all", "output")
    return RenamingTable(
        [*ends, *under("decoder.layers.*", f"{prefix}layers.*", layer), *tops],
        copies={"embed_out.weight": f"{prefix}embed_in.weight"} if tied else {},
        aside={
            "*rotary_emb.inv_freq": "angles that follow from config.json",
            "*attention.bias": "a causal mask",
            "*attention.masked_bias": "a constant for masking",
        },
    )


def _head(keys: Keys, kind: str) -> HeadConfig:
    if kind == "tags":
        return task_head(keys, kind, dropout=keys.rate("classifier_dropout"))
    classifier_dropout(keys)
    if kind == "class":
        return task_head(keys, kind, pool="last", class_bias=False)
    return HeadConfig(kind=kind)  # type: ignore[arg-type]
