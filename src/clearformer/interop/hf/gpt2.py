"""GPT-2 (Radford et al., 2019). Its projections are stored input × output, queries, keys and values in one."""

from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.architectures import classifier_dropout, refuse_heads, task_head
from clearformer.interop.hf.bert import ACTIVATIONS, prefixed
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

MODEL_TYPES = ("gpt2",)
PREFIX = "transformer."

LAYER = [
    Rule(("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"), "attn.c_attn", transposed=True),
    Rule("self_attn.out_proj", "attn.c_proj", transposed=True),
    Rule("self_attn_residual.before", "ln_1"),
    Rule("ffn.up_proj", "mlp.c_fc", transposed=True),
    Rule("ffn.down_proj", "mlp.c_proj", transposed=True),
    Rule("ffn_residual.before", "ln_2"),
]


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    keys.must("scale_attn_weights", True)
    keys.must("scale_attn_by_inverse_layer_idx", False)
    keys.must("add_cross_attention", False)
    keys.ignore("n_ctx", "reorder_and_upcast_attn", "is_decoder", "is_encoder_decoder", "chunk_size_feed_forward")
    keys.ignore(*(f"summary_{end}" for end in ("type", "use_proj", "activation", "proj_to_labels", "first_dropout")))
    dim = keys.size("n_embd", "hidden_size")
    config = gpt2(
        vocab_size=keys.size("vocab_size"),
        dim=dim,
        hidden_dim=keys.optional_size("n_inner") or 4 * dim,
        layers=keys.layers("n_layer", "num_hidden_layers"),
        max_len=keys.size("n_positions", "max_position_embeddings"),
        attention=AttentionConfig(heads=keys.size("n_head", "num_attention_heads")),
        norm=NormConfig(place="pre", eps=keys.not_negative("layer_norm_epsilon")),
        activation=keys.choice("activation_function", ACTIVATIONS),
        dropout=DropoutConfig(
            embedding=keys.rate("embd_pdrop"),
            residual=keys.rate("resid_pdrop"),
            attention=keys.rate("attn_pdrop"),
        ),
        embedding=EmbeddingConfig(tie="all" if keys.flag("tie_word_embeddings") else "none"),
        head=_head(keys),
        init_std=keys.not_negative("initializer_range"),
    )
    keys.finish()
    return config


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    spelt = {ours: theirs for theirs, ours in reversed(ACTIVATIONS.items())}
    return {
        "model_type": "gpt2",
        "vocab_size": config.vocab_size,
        "n_embd": config.dim,
        "n_inner": config.hidden_dim,
        "n_layer": config.layers,
        "n_head": config.attention.heads,
        "n_positions": config.max_len,
        "layer_norm_epsilon": config.norm.eps,
        "activation_function": spelt[config.activation],
        "embd_pdrop": config.dropout.embedding,
        "resid_pdrop": config.dropout.residual,
        "attn_pdrop": config.dropout.attention,
        "classifier_dropout": config.head.dropout if config.head.kind == "tags" else None,
        "tie_word_embeddings": config.embedding.tie in ("all", "output"),
        "initializer_range": config.init_std or 0.02,
    }


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs."""
    prefix = "" if config.head.kind == "states" else PREFIX
    body = [
        *pairs({"decoder.front.embed": "wte", "decoder.front.position.table": "wpe", "decoder.norm": "ln_f"}),
        *under("decoder.layers.*", "h.*", LAYER),
    ]
    classify = "score" if config.head.kind == "class" else "classifier"
    tops = pairs({"head.table": "lm_head.weight", "head.classify": classify, "head.mark": "qa_outputs"})
    tied = config.embedding.tie in ("all", "output")
    return RenamingTable(
        [*prefixed(prefix, body), *tops],
        copies={"lm_head.weight": f"{prefix}wte.weight"} if tied else {},
        aside={"*h.*.attn.bias": "a causal mask", "*h.*.attn.masked_bias": "a constant for masking"},
    )


def _head(keys: Keys) -> HeadConfig:
    kind = refuse_heads(keys, "language-model", "states", "class", "tags", "span")
    drop = classifier_dropout(keys)
    if kind in ("language-model", "states"):
        return HeadConfig(kind=kind)  # type: ignore[arg-type]
    if kind == "class":
        return task_head(keys, kind, pool="last", class_bias=False)
    return task_head(keys, kind, dropout=drop)
