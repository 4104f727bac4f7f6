"""What the published code takes for a key that is left out, of the families that read pictures: see `defaults`."""

from typing import Any

_VIT: dict[str, Any] = {
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
    "initializer_range": 0.02,
    "layer_norm_eps": 1e-12,
    "num_channels": 3,
    "qkv_bias": True,
    "pooler_output_size": None,
    "pooler_act": "tanh",
}
_DINOV2: dict[str, Any] = {key: value for key, value in _VIT.items() if not key.startswith("pooler")} | {
    "layer_norm_eps": 1e-6,
    "mlp_ratio": 4,
    "layerscale_value": 1.0,
    "use_swiglu_ffn": False,
    "use_mask_token": True,
}

PICTURE_DEFAULTS: dict[str, dict[str, Any]] = {
    "vit": _VIT,
    "deit": _VIT,
    "dinov2": _DINOV2,
    "dinov2_with_registers": {key: value for key, value in _DINOV2.items() if key != "use_mask_token"}
    | {"num_register_tokens": 4},
    "beit": {key: value for key, value in _VIT.items() if not key.startswith(("pooler", "qkv"))}
    | {
        "use_absolute_position_embeddings": False,
        "use_relative_position_bias": False,
        "use_shared_relative_position_bias": False,
        "layer_scale_init_value": 0.1,
        "use_mean_pooling": True,
        "use_mask_token": False,
    },
}
