"""Every key of every family's config.json, deleted and changed: the import agrees with the published code, or refuses.

A key that is read wrongly gives a model that runs and answers wrongly, and no other test would see it. The published
library opens each altered folder itself; what it cannot open, or opens with parts that it had to invent, must be
refused.
"""

import functools
import json
from pathlib import Path
from typing import Any

import pytest
import transformers as hf

from clearformer.interop.hf.defaults import DEFAULTS
from interop.references import MELS, PAD, VOCAB, reference
from support.altered_configs import changes, import_or_refusal, verdict

SMALL = 8  # the model's width; two heads, one layer, sequences longer than every window and bucket
BERT = {
    "vocab_size": VOCAB, "hidden_size": SMALL, "intermediate_size": 12, "num_hidden_layers": 1,
    "num_attention_heads": 2, "max_position_embeddings": 24, "pad_token_id": PAD,
}  # fmt: skip
SEQ2SEQ = {
    "vocab_size": VOCAB, "d_model": SMALL, "encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 12,
    "decoder_ffn_dim": 12, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "pad_token_id": PAD,
    "max_position_embeddings": 24, "bos_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 2,
}  # fmt: skip
LLAMA = {key: value for key, value in BERT.items() if key != "num_labels"} | {"num_key_value_heads": 1}
T5 = {
    "vocab_size": VOCAB, "d_model": SMALL, "d_kv": 4, "d_ff": 12, "num_layers": 1, "num_heads": 2,
    "relative_attention_num_buckets": 8, "relative_attention_max_distance": 12, "pad_token_id": PAD,
    "decoder_start_token_id": 0,
}  # fmt: skip
WHISPER = {key: value for key, value in SEQ2SEQ.items() if key != "max_position_embeddings"} | {
    "num_mel_bins": MELS, "max_source_positions": 12, "max_target_positions": 24,
}  # fmt: skip
GPT2 = {"vocab_size": VOCAB, "n_embd": SMALL, "n_layer": 1, "n_head": 2, "n_positions": 24, "pad_token_id": PAD}
DEBERTA = {key: value for key, value in BERT.items() if key != "num_labels"} | {
    "relative_attention": True, "position_buckets": 4, "norm_rel_ebd": "layer_norm", "share_att_key": True,
    "pos_att_type": "p2c|c2p", "max_relative_positions": 12, "position_biased_input": True, "type_vocab_size": 2,
}  # fmt: skip
DISTILBERT = {
    "vocab_size": VOCAB, "dim": SMALL, "hidden_dim": 12, "n_layers": 1, "n_heads": 2, "max_position_embeddings": 24,
}  # fmt: skip
WAV2VEC2 = {
    "vocab_size": VOCAB, "hidden_size": SMALL, "intermediate_size": 12, "num_hidden_layers": 1,
    "num_attention_heads": 2, "conv_dim": (6, 5), "conv_stride": (3, 2), "conv_kernel": (4, 3),
    "num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2,
}  # fmt: skip
VIT = {
    "hidden_size": SMALL, "intermediate_size": 12, "num_hidden_layers": 1, "num_attention_heads": 2,
    "image_size": 8, "patch_size": 4,
}  # fmt: skip
HALF = {"hidden_size": SMALL, "intermediate_size": 12, "num_hidden_layers": 1, "num_attention_heads": 2}
TEXTS, SEEN = {"vocab_size": VOCAB, "max_position_embeddings": 24}, {"image_size": 8, "patch_size": 4}
CLIP = {"text_config": HALF | TEXTS | {"eos_token_id": 7}, "vision_config": HALF | SEEN, "projection_dim": 6}

# The class of theirs, the class of its configuration, and what that is given.
MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "bert": ("BertForMaskedLM", "BertConfig", BERT),
    "bert, classes": ("BertForSequenceClassification", "BertConfig", BERT | {"num_labels": 3}),
    "roberta": ("RobertaForMaskedLM", "RobertaConfig", BERT),
    "xlm-roberta": ("XLMRobertaForTokenClassification", "XLMRobertaConfig", BERT | {"num_labels": 3}),
    "camembert": ("CamembertModel", "CamembertConfig", BERT),
    "distilbert": ("DistilBertForSequenceClassification", "DistilBertConfig", DISTILBERT),
    "albert": ("AlbertForMaskedLM", "AlbertConfig", BERT | {"embedding_size": 6}),
    "roformer": ("RoFormerForMaskedLM", "RoFormerConfig", BERT),
    "deberta-v2": ("DebertaV2ForMaskedLM", "DebertaV2Config", DEBERTA),
    "deberta-v2, classes": (
        "DebertaV2ForSequenceClassification",
        "DebertaV2Config",
        DEBERTA | {"num_labels": 3, "share_att_key": False, "position_buckets": -1, "norm_rel_ebd": "none"},
    ),
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", GPT2),
    "llama": ("LlamaForCausalLM", "LlamaConfig", LLAMA),
    "mistral": ("MistralForCausalLM", "MistralConfig", LLAMA | {"sliding_window": 5}),
    "mixtral": ("MixtralForCausalLM", "MixtralConfig", LLAMA | {"sliding_window": 5, "num_local_experts": 3}),
    "qwen3_moe": (
        "Qwen3MoeForCausalLM",
        "Qwen3MoeConfig",
        LLAMA | {"head_dim": 4, "num_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 8},
    ),
    "bart": ("BartForConditionalGeneration", "BartConfig", SEQ2SEQ),
    "mbart": ("MBartForConditionalGeneration", "MBartConfig", SEQ2SEQ),
    "t5": ("T5ForConditionalGeneration", "T5Config", T5),
    "t5, 1.1": (
        "T5ForConditionalGeneration",
        "T5Config",
        T5 | {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
    ),
    "mt5": ("MT5ForConditionalGeneration", "MT5Config", T5),
    "umt5": ("UMT5ForConditionalGeneration", "UMT5Config", T5),
    "m2m_100": ("M2M100ForConditionalGeneration", "M2M100Config", SEQ2SEQ),
    "marian": ("MarianMTModel", "MarianConfig", SEQ2SEQ),
    "pegasus": ("PegasusForConditionalGeneration", "PegasusConfig", SEQ2SEQ),
    "vit": ("ViTForImageClassification", "ViTConfig", VIT),
    "clip": ("CLIPModel", "CLIPConfig", CLIP),
    "siglip": ("SiglipModel", "SiglipConfig", {"text_config": HALF | TEXTS, "vision_config": HALF | SEEN}),
    "whisper": ("WhisperForConditionalGeneration", "WhisperConfig", WHISPER),
    "wav2vec2": ("Wav2Vec2ForCTC", "Wav2Vec2Config", WAV2VEC2),
    "wav2vec2, before": (
        "Wav2Vec2Model",
        "Wav2Vec2Config",
        WAV2VEC2 | {"do_stable_layer_norm": True, "feat_extract_norm": "layer", "mask_time_prob": 0.0},
    ),
    "hubert": ("HubertForCTC", "HubertConfig", WAV2VEC2),
}

# What no published table has, but files in the wild do.
STRAY = {
    "sliding_window": 5,
    "rope_scaling": {"rope_type": "linear", "factor": 2.0},
    "rope_theta": 500.0,
    "dense_act_fn": "silu",
    "is_gated_act": True,
    "scale_decoder_outputs": False,
    "hidden_size": 12,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "num_key_value_heads": 2,
    "head_dim": 2,
    "n_ctx": 12,
    "layer_types": ["sliding_attention"],
    "partial_rotary_factor": 0.5,
    "position_embedding_type": "relative_key",
    "chunk_size_feed_forward": 5,
    "is_encoder_decoder": True,
    "normalize_before": True,
    "add_final_layer_norm": True,
    "normalize_embedding": False,
    "static_position_embeddings": True,
    "embedding_size": 6,
    "attention_head_size": 6,
    "conv_kernel_size": 3,
    "position_buckets": 3,
    "share_att_key": True,
    "norm_rel_ebd": "layer_norm",
    "pooler_hidden_size": 12,
    "cls_dropout": 0.3,
    "num_labels": 4,
    "_num_labels": 4,
    "is_decoder": True,
    "tie_encoder_decoder": True,
    "pooler_act": "relu",
    "add_bias_logits": True,
    "extra_pos_embeddings": 0,
}


def folder_of(family: str) -> Path:
    return _folder(family, _HOME[0])


_HOME: list[Path] = []


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory):
    _HOME[:] = [tmp_path_factory.mktemp("published")]


@functools.cache
def _folder(family: str, home: Path) -> Path:
    kind, config, given = MODELS[family]
    folder = home / family
    reference(kind, getattr(hf, config)(**given), noise=0.4).save_pretrained(folder)
    return folder


@functools.cache
def published(family: str) -> dict[str, Any]:
    """The config.json that the library writes for a family."""
    kind, config, given = MODELS[family]
    made = getattr(hf, config)(**given)
    made.architectures = [kind]
    return dict(json.loads(made.to_json_string(use_diff=True)))


OWN = [(family, key) for family in MODELS for key in published(family) if key != "model_type"]


@pytest.mark.parametrize(("family", "key"), OWN, ids=[f"{family}-{key}" for family, key in OWN])
def test_a_key_that_is_gone_or_changed(family, key):
    plain = published(family)
    without = {name: value for name, value in plain.items() if name != key}
    wrong = [f"deleted: {problem}"] if (problem := verdict(folder_of(family), without)) else []
    for value in changes(plain[key]):
        if problem := verdict(folder_of(family), plain | {key: value}, without):
            wrong.append(f"{value!r}: {problem}")
    assert not wrong, f"{key} of {family}: {'; '.join(wrong)}"


@pytest.mark.parametrize("family", MODELS)
def test_a_key_that_belongs_to_another_family(family):
    plain, wrong = published(family), []
    others = {key: value for table in DEFAULTS.values() for key, value in table.items() if value is not None}
    for key, value in (others | STRAY).items():
        if key not in plain and (problem := verdict(folder_of(family), plain | {key: value})):
            wrong.append(f"{key} = {value!r}: {problem}")
    assert not wrong, f"{family}: {'; '.join(wrong)}"


@pytest.mark.parametrize("family", MODELS)
def test_the_file_as_it_was_written_is_imported(family):
    assert import_or_refusal(folder_of(family), published(family))[1] is None
