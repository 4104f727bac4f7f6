"""OPT (Zhang et al., 2022): GPT-2 with ReLU, projections of their own, and learned positions from the third row on."""

from dataclasses import replace
from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.architectures import refuse_heads, task_head
from clearformer.interop.hf.bert import ACTIVATIONS
from clearformer.interop.renaming import RenamingTable, pairs, under
from clearformer.model.config import (
    AttentionConfig,
    DropoutConfig,
    EmbeddingConfig,
    HeadConfig,
    ModelConfig,
    NormConfig,
    PositionConfig,
)
from clearformer.model.families import gpt2

MODEL_TYPES = ("opt",)
PREFIX = "model."


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json. The table of the 350M model is narrower than its states."""
    kind = refuse_heads(keys, "language-model", "states", "class", "span")
    dim = keys.size("hidden_size")
    width = keys.size("word_embed_proj_dim") if keys.plain.get("word_embed_proj_dim") is not None else dim
    if width != dim and kind != "language-model":
        raise ValueError(
            f"{keys.where}: word_embed_proj_dim is {width}, and only a language model is read from states of another "
            f"width ({dim}); import it as OPTForCausalLM"
        )
    keys.ignore("word_embed_proj_dim", "layerdrop")
    keys.must("layer_norm_elementwise_affine", True)
    keys.must("_remove_final_layer_norm", False)
    keys.padding()
    bias, before = keys.flag("enable_bias"), keys.flag("do_layer_norm_before")
    config = gpt2(
        vocab_size=keys.size("vocab_size"),
        dim=dim,
        hidden_dim=keys.size("ffn_dim"),
        layers=keys.layers("num_hidden_layers"),
        max_len=keys.size("max_position_embeddings"),
        attention=AttentionConfig(heads=keys.size("num_attention_heads", most=4096), bias=bias),
        position=PositionConfig(kind="learned", offset=2),
        norm=NormConfig(place="pre" if before else "post"),
        activation=keys.choice("activation_function", ACTIVATIONS),
        bias=bias,
        dropout=DropoutConfig(embedding=0.0, residual=keys.rate("dropout"), attention=keys.rate("attention_dropout")),
        embedding=EmbeddingConfig(
            dim=None if width == dim else width,
            early=width != dim,
            tie="all" if keys.flag("tie_word_embeddings") else "none",
        ),
        head=HeadConfig(narrow=True) if width != dim else _head(keys, kind),
        init_std=keys.not_negative("init_std"),
    )
    keys.finish()
    return replace(config, family="opt")


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    return {
        "model_type": "opt",
        "vocab_size": config.vocab_size,
        "hidden_size": config.dim,
        "word_embed_proj_dim": config.embedding.dim or config.dim,
        "ffn_dim": config.hidden_dim,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.attention.heads,
        "max_position_embeddings": config.max_len,
        "enable_bias": config.bias,
        "do_layer_norm_before": config.norm.place == "pre",
        "activation_function": {ours: theirs for theirs, ours in reversed(ACTIVATIONS.items())}[config.activation],
        "dropout": config.dropout.residual,
        "attention_dropout": config.dropout.attention,
        "tie_word_embeddings": config.embedding.tie in ("all", "output"),
        "init_std": config.init_std or 0.02,
    }


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs."""
    prefix = f"{'' if config.head.kind == 'states' else PREFIX}decoder."
    slot = "before" if config.norm.place == "pre" else "after"
    layer = pairs(
        {
            **{f"self_attn.{part}_proj": f"self_attn.{part}_proj" for part in ("q", "k", "v", "out")},
            f"self_attn_residual.{slot}": "self_attn_layer_norm",
            "ffn.up_proj": "fc1",
            "ffn.down_proj": "fc2",
            f"ffn_residual.{slot}": "final_layer_norm",
        }
    )
    ends = {
        "decoder.front.embed": "embed_tokens",
        "decoder.front.embed.widen": "project_in",
        "head.transform": "project_out",
        "decoder.front.position.table": "embed_positions",
        "decoder.norm": "final_layer_norm",
    }
    tops = pairs({"head.table": "lm_head.weight", "head.classify": "score", "head.mark": "qa_outputs"})
    tied = config.embedding.tie in ("all", "output")
    return RenamingTable(
        [
            *pairs({ours: prefix + theirs for ours, theirs in ends.items()}),
            *under("decoder.layers.*", f"{prefix}layers.*", layer),
            *tops,
        ],
        copies={"lm_head.weight": f"{prefix}embed_tokens.weight"} if tied else {},
    )


def _head(keys: Keys, kind: str) -> HeadConfig:
    if kind == "class":
        return task_head(keys, kind, pool="last", class_bias=False)
    return HeadConfig(kind=kind)  # type: ignore[arg-type]
