"""wav2vec 2.0 and HuBERT beside their published implementation, alone and filled up; what is not opened is named."""

import pytest
import torch
import transformers as hf
from safetensors.torch import load_file, save_file

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.wav2vec2 import read_config
from clearformer.interop.importer import import_checkpoint, read_hugging_face
from interop.references import DIM, HEADS, HIDDEN, LAYERS, VOCAB, check, close, reference

GIVEN = {
    "vocab_size": VOCAB, "hidden_size": DIM, "intermediate_size": HIDDEN, "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS, "conv_dim": (12, 10, 14), "conv_stride": (3, 2, 1), "conv_kernel": (5, 3, 2),
    "num_conv_pos_embeddings": 6, "num_conv_pos_embedding_groups": 4, "hidden_dropout": 0.0, "activation_dropout": 0.0,
    "attention_dropout": 0.0, "final_dropout": 0.0, "layerdrop": 0.0, "apply_spec_augment": False,
}  # fmt: skip
OLD = {"original0": "weight_g", "original1": "weight_v"}


@pytest.mark.parametrize("kind", ["ForCTC", "Model"])
@pytest.mark.parametrize("choices", [("group", False), ("layer", True), ("layer", False)], ids=str)
@pytest.mark.parametrize("start", ["Wav2Vec2", "Hubert"])
def test_agrees(start, choices, kind, tmp_path):
    norm, before = choices
    given = GIVEN | {"feat_extract_norm": norm, "do_stable_layer_norm": before, "conv_bias": before}
    check(reference(start + kind, getattr(hf, f"{start}Config")(**given)), tmp_path)


def test_weights_of_the_old_names_are_the_same_weights(tmp_path):
    reference("Wav2Vec2ForCTC", hf.Wav2Vec2Config(**GIVEN)).save_pretrained(tmp_path)
    sounds, expected = torch.randn(2, 300), read_hugging_face(tmp_path).bundle.model
    weights = load_file(tmp_path / "model.safetensors")
    for new, old in OLD.items():
        name = f"wav2vec2.encoder.pos_conv_embed.conv.parametrizations.weight.{new}"
        weights[f"wav2vec2.encoder.pos_conv_embed.conv.{old}"] = weights.pop(name)
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    close(read_hugging_face(tmp_path).bundle.model(sounds), expected(sounds))


def test_a_model_that_was_only_pretrained_is_its_encoder(tmp_path):
    given = GIVEN | {"num_codevectors_per_group": 4, "codevector_dim": 8, "proj_codevector_dim": 8}
    reference("Wav2Vec2ForPreTraining", hf.Wav2Vec2Config(**given)).save_pretrained(tmp_path / "published")
    found = import_checkpoint(tmp_path / "published", tmp_path / "ours")
    assert found.config.head.kind == "states"
    assert found.provenance["certificate"]["largest_difference"]["logits"] < 1e-4
    assert "quantizer.codevectors" in found.provenance["left_aside"]


def test_a_hubert_without_a_norm_before_the_projection(tmp_path):
    check(reference("HubertForCTC", hf.HubertConfig(**GIVEN, feat_proj_layer_norm=False)), tmp_path)


@pytest.mark.parametrize(
    ("kind", "key", "value", "message"),
    [
        ("wav2vec2", "add_adapter", True, "add_adapter asks for convolutions behind the encoder"),
        ("wav2vec2", "adapter_attn_dim", 16, "adapter_attn_dim asks for small layers of each language"),
        ("hubert", "conv_pos_batch_norm", True, "conv_pos_batch_norm is True"),
        ("hubert", "conv_dim", [12, 10], "must have as many numbers, one for each convolution"),
        ("hubert", "conv_dim", "12", "conv_dim must list a whole number for each layer"),
        ("hubert", "num_conv_pos_embedding_groups", 5, "5, does not divide a width of 32"),
        ("hubert", "architectures", ["HubertForSequenceClassification"], "a head for class, which is not supported"),
        ("wav2vec2", "feat_extract_norm", "batch", "known are group, layer"),
    ],
)
def test_what_it_does_not_have_is_refused_by_its_key(kind, key, value, message):
    start = {"wav2vec2": "Wav2Vec2", "hubert": "Hubert"}[kind]
    lists = {name: list(one) if isinstance(one, tuple) else one for name, one in GIVEN.items()}
    plain = {**lists, "model_type": kind, "architectures": [f"{start}ForCTC"], key: value}
    with pytest.raises(ValueError, match=message):
        read_config(Keys(plain))


def test_a_promised_vector_for_hidden_frames_must_be_there():
    lists = {name: list(one) if isinstance(one, tuple) else one for name, one in GIVEN.items()}
    plain = {**lists, "model_type": "wav2vec2", "architectures": ["Wav2Vec2ForCTC"]}
    with pytest.raises(ValueError, match="ask for masked_spec_embed, which the weights do not have"):
        read_config(Keys(plain, tensors={"lm_head.weight": (VOCAB, DIM)}))
