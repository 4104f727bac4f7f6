"""BERT (Devlin et al., 2018), with the heads that it is published with.

Its relatives (RoBERTa, RoFormer) share the sizes, the layer's names and the reading of heads that are defined here.
"""

from dataclasses import replace
from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.architectures import refuse_heads, task_head
from clearformer.interop.renaming import RenamingTable, Rule, pairs, under
from clearformer.model.config import (
    Activation,
    DropoutConfig,
    EmbeddingConfig,
    HeadConfig,
    ModelConfig,
    NormConfig,
)
from clearformer.model.families import bert

MODEL_TYPES = ("bert",)
PREFIX = "bert."
ACTIVATIONS: dict[str, Activation] = {
    "gelu": "gelu",
    "gelu_new": "gelu-tanh",
    "gelu_pytorch_tanh": "gelu-tanh",
    "gelu_fast": "gelu-tanh",
    "quick_gelu": "quick-gelu",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
    "tanh": "tanh",
}
HEADS = ("states", "language-model", "class", "tags", "span")

LAYER = pairs(
    {
        "self_attn.q_proj": "attention.self.query",
        "self_attn.k_proj": "attention.self.key",
        "self_attn.v_proj": "attention.self.value",
        "self_attn.out_proj": "attention.output.dense",
        "self_attn_residual.after": "attention.output.LayerNorm",
        "ffn.up_proj": "intermediate.dense",
        "ffn.down_proj": "output.dense",
        "ffn_residual.after": "output.LayerNorm",
    }
)
EMBEDDINGS = pairs(
    {
        "encoder.front.embed": "embeddings.word_embeddings",
        "encoder.front.type_embed": "embeddings.token_type_embeddings",
        "encoder.front.position.table": "embeddings.position_embeddings",
        "encoder.front.norm": "embeddings.LayerNorm",
    }
)
MASKED_WORDS = pairs(
    {
        "head.transform.0": "cls.predictions.transform.dense",
        "head.transform.2": "cls.predictions.transform.LayerNorm",
        "head.table": "cls.predictions.decoder.weight",
        "head.bias": "cls.predictions.bias",
    }
)
ASIDE = {
    "*embeddings.position_ids": "the numbers 0, 1, 2, …",
    "*embeddings.token_type_ids": "zeros",
    "cls.seq_relationship.*": "a head for next sentences, which the model here does not have",
}


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    config = bert(**sizes(keys), **choices(keys), head=head(keys))
    keys.finish()
    return config


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    return {"model_type": "bert", "max_position_embeddings": config.max_len, **written(config)}


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs."""
    prefix = "" if config.head.kind == "states" else PREFIX
    body = [*EMBEDDINGS, *under("encoder.layers.*", "encoder.layer.*", LAYER)]
    tops = pairs({"head.classify": "classifier", "head.mark": "qa_outputs"})
    aside = dict(ASIDE)
    if not config.head.pooler:
        aside["*pooler.dense.*"] = "a pooler that this head does not use"
    return RenamingTable(
        [*prefixed(prefix, body), Rule("head.pooler", f"{prefix}pooler.dense"), *MASKED_WORDS, *tops],
        copies=copies(config, prefix, "cls.predictions.decoder", "cls.predictions.bias"),
        aside=aside,
    )


def sizes(keys: Keys) -> dict[str, Any]:
    """The sizes, as BERT and its relatives name them."""
    keys.padding()
    return {
        "vocab_size": keys.size("vocab_size"),
        "dim": keys.size("hidden_size"),
        "hidden_dim": keys.size("intermediate_size"),
        "layers": keys.layers("num_hidden_layers"),
        "max_len": keys.size("max_position_embeddings"),
        "heads": keys.size("num_attention_heads"),
    }


def choices(keys: Keys) -> dict[str, Any]:
    """The other settings that they share. Only encoders with absolute positions are supported."""
    keys.must("position_embedding_type", "absolute")
    keys.must("is_decoder", False)
    keys.must("add_cross_attention", False)
    keys.must("tie_word_embeddings", True)
    keys.ignore("chunk_size_feed_forward", "is_encoder_decoder", "tie_encoder_decoder")
    drop = keys.rate("hidden_dropout_prob")
    return {
        "norm": NormConfig(eps=keys.not_negative("layer_norm_eps")),
        "activation": keys.choice("hidden_act", ACTIVATIONS),
        "dropout": DropoutConfig(embedding=drop, residual=drop, attention=keys.rate("attention_probs_dropout_prob")),
        "embedding": EmbeddingConfig(types=keys.size("type_vocab_size"), norm=True),
        "init_std": keys.not_negative("initializer_range"),
    }


def head(keys: Keys) -> HeadConfig:
    """BERT's heads: a class is predicted from the pooled first state."""
    kind = refuse_heads(keys, *HEADS)
    own = keys.plain.get("classifier_dropout") is not None
    drop = keys.rate("classifier_dropout" if own else "hidden_dropout_prob")
    keys.ignore("classifier_dropout")
    if kind == "states":
        return HeadConfig(kind="states", pooler=keys.has("pooler.dense.weight"))
    if kind == "language-model":
        return HeadConfig(transform=True, bias=True)
    return task_head(keys, kind, dropout=drop, pooler=True)


def written(config: ModelConfig) -> dict[str, Any]:
    """The keys of `sizes`, `choices` and `head`, apart from the number of positions."""
    spelt = {ours: theirs for theirs, ours in reversed(ACTIVATIONS.items())}
    return {
        "vocab_size": config.vocab_size,
        "hidden_size": config.dim,
        "intermediate_size": config.hidden_dim,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.attention.heads,
        "type_vocab_size": max(config.embedding.types, 1),
        "layer_norm_eps": config.norm.eps,
        "hidden_act": spelt[config.activation],
        "hidden_dropout_prob": config.dropout.residual,
        "attention_probs_dropout_prob": config.dropout.attention,
        "classifier_dropout": config.head.dropout if config.head.kind in ("class", "tags") else None,
        "initializer_range": config.init_std or 0.02,
    }


def prefixed(prefix: str, rules: list[Rule]) -> list[Rule]:
    """The same rules with a prefix before each of their names."""
    return [replace(rule, theirs=f"{prefix}{rule.theirs}") for rule in rules]


def copies(config: ModelConfig, prefix: str, decoder: str, bias: str) -> dict[str, str]:
    """A language model's table and bias, which many files store twice."""
    if config.head.kind != "language-model":
        return {}
    return {f"{decoder}.weight": f"{prefix}embeddings.word_embeddings.weight", f"{decoder}.bias": bias}
