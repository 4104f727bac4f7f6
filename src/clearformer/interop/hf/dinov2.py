"""DINOv2 (Oquab et al., 2023), with registers (Darcet et al., 2023) or without: a ViT whose parts are scaled.

Its positions may be of another size than its pictures: see `resized_positions`.
"""

from dataclasses import replace
from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf import vit
from clearformer.interop.hf.architectures import refuse_heads, task_head
from clearformer.interop.hf.bert import ACTIVATIONS
from clearformer.interop.renaming import RenamingTable, Rule, pairs, under
from clearformer.model import families
from clearformer.model.config import HeadConfig, ModelConfig

MODEL_TYPES = ("dinov2", "dinov2_with_registers")
PREFIXES = {"dinov2": "dinov2.", "dinov2_with_registers": "dinov2_with_registers."}
PROCESSOR = "Bit"
ANY_SIZE = True  # the published program interpolates its positions by itself
_BACKBONE = ("apply_layernorm", "reshape_hidden_states", "out_features", "out_indices", "stage_names")

LAYER = [
    *vit.ATTENTION,
    *pairs(
        {
            "self_attn_residual.before": "norm1",
            "ffn_residual.before": "norm2",
            "self_attn_residual.inside.weight": "layer_scale1.lambda1",
            "ffn_residual.inside.weight": "layer_scale2.lambda1",
        }
    ),
]
PLAIN = pairs({"ffn.up_proj": "mlp.fc1", "ffn.down_proj": "mlp.fc2"})
GATED = [Rule(("ffn.gate_proj", "ffn.up_proj"), "mlp.weights_in"), Rule("ffn.down_proj", "mlp.weights_out")]


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    keys.ignore(*_BACKBONE, "drop_path_rate")
    vit.read_mask_token(keys)
    given, gated = vit.sizes(keys), keys.flag("use_swiglu_ffn")
    if keys.model_type != "dinov2":
        given["front"] = replace(given["front"], registers=_registers(keys))
    activation = keys.choice("hidden_act", ACTIVATIONS)
    config = families.vit(
        **given, hidden_dim=_hidden(given["dim"], keys.size("mlp_ratio", most=64), gated=gated), gated=gated,
        activation="silu" if gated else activation, **vit.attention(keys),
        layer_scale=keys.number("layerscale_value"), head=_head(keys),
    )  # fmt: skip
    keys.finish()
    return replace(config, family=str(keys.model_type))


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    ratios = [ratio for ratio in range(1, 65) if _hidden(config.dim, ratio, gated=config.gated) == config.hidden_dim]
    if not ratios:
        raise ValueError(f"the hidden width {config.hidden_dim} is no whole multiple of {config.dim}")
    registers = config.front.registers
    own: dict[str, Any] = {"model_type": "dinov2", "use_mask_token": True}
    if registers:
        own = {"model_type": "dinov2_with_registers", "num_register_tokens": registers}
    return {
        **vit.written(config),
        "mlp_ratio": ratios[0],
        "use_swiglu_ffn": config.gated,
        "layerscale_value": 1.0 if config.layer_scale is None else config.layer_scale,
        **own,
    }


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs."""
    layer = [*LAYER, *(GATED if config.gated else PLAIN)]
    prefix = PREFIXES[config.family]
    table = vit.table_of(config, prefix, under("encoder.layers.*", "encoder.layer.*", layer))
    mask = f"{'' if config.head.kind == 'states' else prefix}embeddings.mask_token"
    return replace(table, filled={mask: ((1, config.dim), 0.0)})


def _hidden(dim: int, ratio: int, *, gated: bool) -> int:
    """The gated part has two thirds of the width, in whole eights."""
    return (dim * ratio * 2 // 3 + 7) // 8 * 8 if gated else dim * ratio


def _registers(keys: Keys) -> int:
    given = keys.plain.get("num_register_tokens", keys.defaults["num_register_tokens"])
    return 0 if given == 0 and not isinstance(given, bool) else keys.size("num_register_tokens", most=1024)


def _head(keys: Keys) -> HeadConfig:
    kind = refuse_heads(keys, "class", "states")
    return HeadConfig(kind="states") if kind == "states" else task_head(keys, kind, pool="first-and-patches")
