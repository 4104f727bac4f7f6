"""BEiT (Bao et al., 2022): a ViT whose attention knows how far apart two patches are, and whose parts are scaled."""

from dataclasses import replace
from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf import vit
from clearformer.interop.hf.architectures import refuse_heads, task_head
from clearformer.interop.hf.bert import ACTIVATIONS
from clearformer.interop.renaming import RenamingTable, Rule, pairs, under
from clearformer.model import families
from clearformer.model.config import AttentionConfig, HeadConfig, ModelConfig, PositionConfig

MODEL_TYPES = ("beit",)
PREFIX = "beit."
PROCESSOR = "Beit"
# What only its other heads read: those that segment pictures or guess hidden patches.
_ELSEWHERE = (
    "vocab_size", "pool_scales", "use_auxiliary_head", "auxiliary_loss_weight", "auxiliary_channels",
    "auxiliary_num_convs", "auxiliary_concat_input", "semantic_loss_ignore_index", "add_fpn", "reshape_hidden_states",
    "out_features", "out_indices", "stage_names", "drop_path_rate",
)  # fmt: skip
_BIAS = "relative_position_bias.relative_position_bias_table"


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    keys.ignore(*_ELSEWHERE)
    given, pooled = vit.sizes(keys), keys.flag("use_mean_pooling")
    given["norm"] = replace(given["norm"], final=not pooled)
    vit.read_mask_token(keys)
    scale = keys.number("layer_scale_init_value")
    if keys.plain.get("add_fpn"):
        raise ValueError(f"{keys.where}: add_fpn asks for maps of several sizes, which no model here makes")
    config = families.vit(
        **given, hidden_dim=keys.size("intermediate_size"), activation=keys.choice("hidden_act", ACTIVATIONS),
        heads=keys.size("num_attention_heads"), attention=AttentionConfig(key_bias=False),
        position=_position(keys), layer_scale=scale if scale > 0 else None, head=_head(keys, pooled=pooled),
    )  # fmt: skip
    keys.finish()
    return replace(config, family="beit")


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    plain, position = vit.written(config), config.position
    del plain["qkv_bias"]
    return {
        "model_type": "beit",
        **plain,
        "intermediate_size": config.hidden_dim,
        "use_absolute_position_embeddings": position.kind == "learned",
        "use_relative_position_bias": position.kind == "grid" and position.each,
        "use_shared_relative_position_bias": position.kind == "grid" and not position.each,
        "layer_scale_init_value": config.layer_scale or 0.0,
        "use_mean_pooling": config.norm.final is False,
    }


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs. Which row of the table belongs to which pair of patches follows from their size."""
    layer = [
        *vit.LAYER,
        *pairs({"self_attn_residual.inside.weight": "lambda_1", "ffn_residual.inside.weight": "lambda_2"}),
    ]
    table = "self_attn.position.table.weight"
    if config.position.each:
        layer.append(Rule(table, f"attention.attention.{_BIAS}"))
    layers = under("encoder.layers.*", "encoder.layer.*", layer)
    shared = [] if config.position.each else [Rule(f"encoder.layers.0.{table}", f"encoder.{_BIAS}")]
    made = vit.table_of(config, PREFIX, [*shared, *layers])
    aside = dict(made.aside) | {"*relative_position_index": "numbers that follow from the picture's size"}
    if config.head.pooled_norm:
        return replace(made, rules=[*made.rules, Rule("head.transform", f"{PREFIX}pooler.layernorm")], aside=aside)
    aside["*pooler.layernorm.*"] = "the norm of a summary that this head does not make"
    norm = {"weight": 1.0, "bias": 0.0} if config.norm.final is False else {}
    filled = {f"pooler.layernorm.{name}": ((config.dim,), value) for name, value in norm.items()}
    return replace(made, aside=aside, filled=filled)


def _position(keys: Keys) -> PositionConfig:
    absolute = keys.flag("use_absolute_position_embeddings")
    own, shared = keys.flag("use_relative_position_bias"), keys.flag("use_shared_relative_position_bias")
    if absolute + own + shared > 1:
        raise ValueError(
            f"{keys.where} asks for several of use_absolute_position_embeddings, use_relative_position_bias and "
            "use_shared_relative_position_bias at once, and a model here has one kind of positions"
        )
    return PositionConfig(kind="learned" if absolute else "grid" if own or shared else "none", each=own)


def _head(keys: Keys, *, pooled: bool) -> HeadConfig:
    kind = refuse_heads(keys, "class", "states")
    if kind == "states":
        return HeadConfig(kind="states")
    return task_head(keys, kind, pool="patches" if pooled else "first", pooled_norm=pooled)
