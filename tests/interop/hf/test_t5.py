"""T5 1.0 and 1.1 beside their published implementation."""

import pytest
import torch
import transformers as hf
from safetensors.torch import load_file, save_file

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.t5 import read_config
from clearformer.interop.importer import read_hugging_face
from clearformer.interop.tensor_files import WHOLE
from interop.references import DIM, HEADS, HIDDEN, LAYERS, PAD, VOCAB, check, reference

T5 = {
    "vocab_size": VOCAB, "d_model": DIM, "d_kv": 12, "d_ff": HIDDEN, "num_layers": LAYERS, "num_heads": HEADS,
    "relative_attention_num_buckets": 8, "relative_attention_max_distance": 12, "pad_token_id": PAD,
    "num_decoder_layers": 1, "dropout_rate": 0.0, "decoder_start_token_id": 0,
}  # fmt: skip


@pytest.mark.parametrize(
    "choices",
    [{}, {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}, {"feed_forward_proj": "gated-silu"}],
    ids=["1.0", "1.1", "gated by SiLU"],
)
def test_agrees(choices, tmp_path):
    check(reference("T5ForConditionalGeneration", hf.T5Config(**T5, **choices), noise=0.02), tmp_path)


def test_an_output_table_of_its_own(tmp_path):
    """Version 1.1 as it was published: lm_head is in the file and differs from the embedding."""
    theirs = reference("T5ForConditionalGeneration", hf.T5Config(**T5, tie_word_embeddings=False), noise=0.02)
    theirs.save_pretrained(tmp_path)
    own = torch.randn(VOCAB, DIM)
    save_file(load_file(tmp_path / WHOLE) | {"lm_head.weight": own}, tmp_path / WHOLE)
    found = read_hugging_face(tmp_path).bundle
    assert found.config.embedding.tie == "inputs"
    assert torch.equal(found.model.head.table, own)


def test_umt5_has_biases_of_its_own_in_each_layer(tmp_path):
    theirs = reference("UMT5ForConditionalGeneration", hf.UMT5Config(**T5), noise=0.02)
    check(theirs, tmp_path)
    names = read_hugging_face(tmp_path / "published").bundle.model.state_dict()
    tables = [names[f"encoder.layers.{layer}.self_attn.position.table.weight"] for layer in range(LAYERS)]
    assert not torch.equal(*tables)


def test_a_umt5_with_a_table_of_its_own_is_refused(tmp_path):
    plain = {**T5, "model_type": "umt5", "tie_word_embeddings": False}
    with pytest.raises(ValueError, match="disagree about the scale"):
        read_config(Keys(plain))
