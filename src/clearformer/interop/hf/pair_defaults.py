"""What the published code takes for a key that is left out, of pairs of a network of texts and one of pictures.

Their config.json holds a table for each half, and many leave sizes out that the published classes have a default for:
so the sizes are here, too. See `defaults`.
"""

from typing import Any

_HALF: dict[str, Any] = {"num_hidden_layers": 12, "num_attention_heads": 12, "attention_dropout": 0.0}
_PICTURES: dict[str, Any] = _HALF | {
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_channels": 3,
    "image_size": 224,
}
_CLIP: dict[str, Any] = {"hidden_act": "quick_gelu", "layer_norm_eps": 1e-5}
_SIGLIP: dict[str, Any] = {"hidden_act": "gelu_pytorch_tanh", "layer_norm_eps": 1e-6}

PAIR_DEFAULTS: dict[str, dict[str, Any]] = {
    "clip": {"projection_dim": 512, "logit_scale_init_value": 2.6592, "initializer_factor": 1.0},
    "siglip": {"initializer_factor": 1.0},
}
HALF_DEFAULTS: dict[str, dict[str, Any]] = {
    "clip_text_model": _HALF
    | _CLIP
    | {
        "vocab_size": 49_408,
        "hidden_size": 512,
        "intermediate_size": 2048,
        "num_attention_heads": 8,
        "max_position_embeddings": 77,
        "eos_token_id": 49_407,
    },
    "clip_vision_model": _PICTURES | _CLIP | {"patch_size": 32},
    "siglip_text_model": _HALF
    | _SIGLIP
    | {
        "vocab_size": 32_000,
        "hidden_size": 768,
        "intermediate_size": 3072,
        "max_position_embeddings": 64,
        "projection_size": None,
    },
    "siglip_vision_model": _PICTURES | _SIGLIP | {"patch_size": 16},
}
