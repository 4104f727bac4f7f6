"""What the published code takes for a key that config.json leaves out: one table per model type.

A file written years ago lacks the keys that came later, and a file edited by hand lacks any of them. The value is not
ours to choose: it is the default of the published configuration class, and the tests compare each entry with the class
itself. Sizes that no sensible file leaves out (widths, layers, the vocabulary) are not here: without them an import is
refused.
"""

from typing import Any

from clearformer.interop.hf.picture_defaults import PICTURE_DEFAULTS

_BERT: dict[str, Any] = {
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "attention_probs_dropout_prob": 0.1,
    "layer_norm_eps": 1e-12,
    "initializer_range": 0.02,
    "classifier_dropout": None,
    "pad_token_id": 0,
    "is_decoder": False,
    "add_cross_attention": False,
    "tie_word_embeddings": True,
}
_ROBERTA = _BERT | {"pad_token_id": 1}
_BART: dict[str, Any] = {
    "decoder_attention_heads": 16,
    "decoder_ffn_dim": 4096,
    "activation_function": "gelu",
    "dropout": 0.1,
    "attention_dropout": 0.0,
    "activation_dropout": 0.0,
    "init_std": 0.02,
    "scale_embedding": False,
    "pad_token_id": 1,
    "is_decoder": False,
    "add_cross_attention": False,
    "is_encoder_decoder": True,
    "tie_word_embeddings": True,
}
_LLAMA: dict[str, Any] = {
    "num_key_value_heads": None,
    "head_dim": None,
    "hidden_act": "silu",
    "rms_norm_eps": 1e-6,
    "initializer_range": 0.02,
    "attention_bias": False,
    "mlp_bias": False,
    "attention_dropout": 0.0,
    "rope_theta": 10_000.0,
    "pad_token_id": None,
    "tie_word_embeddings": False,
}
_T5: dict[str, Any] = {
    "num_decoder_layers": None,
    "relative_attention_num_buckets": 32,
    "relative_attention_max_distance": 128,
    "dropout_rate": 0.1,
    "layer_norm_epsilon": 1e-6,
    "feed_forward_proj": "relu",
    "is_encoder_decoder": True,
    "is_decoder": False,
    "add_cross_attention": False,
}

_WITHOUT_BIASES = {key: value for key, value in _LLAMA.items() if key not in ("mlp_bias", "attention_bias", "head_dim")}
_QWEN2: dict[str, Any] = _WITHOUT_BIASES | {
    "num_key_value_heads": 32,
    "use_sliding_window": False,
    "sliding_window": 4096,
    "max_position_embeddings": 32_768,
}
_GEMMA: dict[str, Any] = {key: value for key, value in _LLAMA.items() if key != "mlp_bias"} | {
    "num_key_value_heads": 16,
    "head_dim": 256,
    "hidden_act": "gelu_pytorch_tanh",
    "pad_token_id": 0,
    "tie_word_embeddings": True,
    "use_bidirectional_attention": None,
}
_GEMMA2 = {key: value for key, value in _GEMMA.items() if key != "hidden_act"} | {
    "hidden_activation": "gelu_pytorch_tanh",
    "num_key_value_heads": 4,
    "query_pre_attn_scalar": 256,
    "sliding_window": 4096,
    "attn_logit_softcapping": 50.0,
    "final_logit_softcapping": 30.0,
}
_WAV2VEC2: dict[str, Any] = {
    "hidden_act": "gelu",
    "hidden_dropout": 0.1,
    "activation_dropout": 0.1,
    "attention_dropout": 0.1,
    "feat_proj_dropout": 0.0,
    "final_dropout": 0.1,
    "initializer_range": 0.02,
    "layer_norm_eps": 1e-5,
    "feat_extract_norm": "group",
    "feat_extract_activation": "gelu",
    "conv_dim": (512, 512, 512, 512, 512, 512, 512),
    "conv_stride": (5, 2, 2, 2, 2, 2, 2),
    "conv_kernel": (10, 3, 3, 3, 3, 2, 2),
    "conv_bias": False,
    "num_conv_pos_embeddings": 128,
    "num_conv_pos_embedding_groups": 16,
    "do_stable_layer_norm": False,
    "mask_time_prob": 0.05,
    "mask_feature_prob": 0.0,
}

DEFAULTS: dict[str, dict[str, Any]] = {
    "bert": _BERT,
    "roberta": _ROBERTA,
    "xlm-roberta": _ROBERTA,
    "camembert": _ROBERTA,
    "distilbert": {
        "activation": "gelu",
        "dropout": 0.1,
        "attention_dropout": 0.1,
        "seq_classif_dropout": 0.2,
        "initializer_range": 0.02,
        "pad_token_id": 0,
        "tie_word_embeddings": True,
    },
    "albert": {key: value for key, value in _BERT.items() if key != "classifier_dropout"}
    | {
        "hidden_act": "gelu_new",
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "classifier_dropout_prob": 0.1,
        "num_hidden_groups": 1,
        "inner_group_num": 1,
    },
    "roformer": {key: value for key, value in _BERT.items() if key != "classifier_dropout"}
    | {"embedding_size": None, "rotary_value": False},
    "electra": _BERT,
    "modernbert": {
        "hidden_activation": "gelu",
        "max_position_embeddings": 8192,
        "initializer_range": 0.02,
        "norm_eps": 1e-5,
        "norm_bias": False,
        "pad_token_id": 50_283,
        "attention_bias": False,
        "attention_dropout": 0.0,
        "global_rope_theta": 160_000.0,
        "local_rope_theta": 10_000.0,
        "local_attention": 128,
        "embedding_dropout": 0.0,
        "mlp_bias": False,
        "mlp_dropout": 0.0,
        "decoder_bias": True,
        "classifier_pooling": "cls",
        "classifier_dropout": 0.0,
        "classifier_bias": False,
        "classifier_activation": "gelu",
        "tie_word_embeddings": True,
    },
    "gpt2": {
        "n_inner": None,
        "activation_function": "gelu_new",
        "resid_pdrop": 0.1,
        "embd_pdrop": 0.1,
        "attn_pdrop": 0.1,
        "layer_norm_epsilon": 1e-5,
        "initializer_range": 0.02,
        "scale_attn_weights": True,
        "scale_attn_by_inverse_layer_idx": False,
        "add_cross_attention": False,
        "tie_word_embeddings": True,
    },
    "llama": _LLAMA,
    "mistral": {key: value for key, value in _LLAMA.items() if key not in ("attention_bias", "mlp_bias")}
    | {"num_key_value_heads": 8, "sliding_window": 4096},
    "qwen2": _QWEN2,
    "qwen3": _QWEN2 | {"head_dim": 128, "attention_bias": False},
    "gemma": _GEMMA,
    "gemma2": _GEMMA2,
    "gemma3_text": _GEMMA2
    | {
        "rope_theta": 1_000_000.0,
        "rope_local_base_freq": 10_000.0,
        "attn_logit_softcapping": None,
        "final_logit_softcapping": None,
        "use_bidirectional_attention": False,
        "max_position_embeddings": 131_072,
    },
    "smollm3": _WITHOUT_BIASES
    | {
        "attention_bias": False,
        "mlp_bias": False,
        "num_key_value_heads": 4,
        "rope_theta": 2_000_000.0,
        "no_rope_layer_interval": 4,
        "use_sliding_window": False,
        "sliding_window": None,
        "pad_token_id": 128_004,
        "tie_word_embeddings": True,
    },
    "phi3": _WITHOUT_BIASES
    | {"resid_pdrop": 0.0, "sliding_window": None, "rms_norm_eps": 1e-5, "pad_token_id": 32_000},
    "gpt_neox": {
        "hidden_act": "gelu",
        "hidden_dropout": 0.0,
        "attention_dropout": 0.0,
        "classifier_dropout": 0.1,
        "layer_norm_eps": 1e-5,
        "initializer_range": 0.02,
        "use_parallel_residual": True,
        "attention_bias": True,
        "rope_theta": 10_000.0,
        "partial_rotary_factor": 0.25,
        "tie_word_embeddings": False,
    },
    "opt": {
        "activation_function": "relu",
        "do_layer_norm_before": True,
        "_remove_final_layer_norm": False,
        "layer_norm_elementwise_affine": True,
        "enable_bias": True,
        "dropout": 0.1,
        "attention_dropout": 0.0,
        "init_std": 0.02,
        "pad_token_id": 1,
        "tie_word_embeddings": True,
    },
    "bloom": {
        "layer_norm_epsilon": 1e-5,
        "initializer_range": 0.02,
        "apply_residual_connection_post_layernorm": False,
        "hidden_dropout": 0.0,
        "attention_dropout": 0.0,
        "tie_word_embeddings": True,
    },
    "bart": _BART,
    "mbart": _BART,
    "m2m_100": _BART | {"activation_function": "relu", "attention_dropout": 0.1, "scale_embedding": True},
    "marian": _BART | {"decoder_vocab_size": None, "share_encoder_decoder_embeddings": True, "pad_token_id": 58_100},
    "pegasus": _BART | {"pad_token_id": 0},
    "t5": _T5,
    "mt5": _T5 | {"feed_forward_proj": "gated-gelu"},
    "umt5": {key: value for key, value in _T5.items() if key != "add_cross_attention"}
    | {"feed_forward_proj": "gated-gelu"},
    **PICTURE_DEFAULTS,
    "whisper": {key: value for key, value in _BART.items() if key not in ("is_decoder", "add_cross_attention")}
    | {
        "decoder_attention_heads": 6,
        "decoder_ffn_dim": 1536,
        "dropout": 0.0,
        "max_source_positions": 1500,
        "use_weighted_layer_sum": False,
        "pad_token_id": 50_256,
    },
    "wav2vec2": _WAV2VEC2 | {"add_adapter": False, "adapter_attn_dim": None},
    "hubert": _WAV2VEC2 | {"feat_proj_layer_norm": True, "conv_pos_batch_norm": False},
    # The class has left the library; these are the values of its last release.
    "transfo-xl": {
        "cutoffs": [20_000, 40_000, 200_000],
        "div_val": 4,
        "d_embed": 1024,
        "pre_lnorm": False,
        "clamp_len": 1000,
        "same_length": True,
        "attn_type": 0,
        "dropout": 0.1,
        "dropatt": 0.0,
        "untie_r": True,
        "init_std": 0.02,
        "layer_norm_epsilon": 1e-5,
        "tie_word_embeddings": True,
    },
}
