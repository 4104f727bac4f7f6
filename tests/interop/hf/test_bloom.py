"""BLOOM beside its published implementation."""

import pytest
import transformers as hf

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.bloom import read_config
from interop.references import PAD, VOCAB, check, reference


@pytest.mark.parametrize(
    ("kind", "heads", "more"),
    [
        ("BloomForCausalLM", 4, {}),
        ("BloomForCausalLM", 6, {"tie_word_embeddings": False}),
        ("BloomForSequenceClassification", 2, {"num_labels": 3}),
    ],
    ids=["four heads", "six heads", "class"],
)
def test_agrees(kind, heads, more, tmp_path):
    config = hf.BloomConfig(vocab_size=VOCAB, hidden_size=24, n_layer=2, n_head=heads, pad_token_id=PAD, **more)
    check(reference(kind, config), tmp_path)


def test_another_residual_is_refused():
    plain = {"model_type": "bloom", "vocab_size": 9, "hidden_size": 8, "n_layer": 1, "n_head": 2}
    assert read_config(Keys(plain)).position.kind == "alibi"
    with pytest.raises(ValueError, match="apply_residual_connection_post_layernorm is True"):
        read_config(Keys(plain | {"apply_residual_connection_post_layernorm": True}))
