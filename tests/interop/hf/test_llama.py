"""Llama and Mistral beside their published implementations."""

import pytest
import transformers as hf

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.llama import read_config
from interop.references import LLAMA, check, reference

STRETCHED = {"rope_type": "linear", "factor": 4.0, "rope_theta": 5000.0}


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("LlamaForCausalLM", hf.LlamaConfig(**LLAMA)),
        ("LlamaForCausalLM", hf.LlamaConfig(**LLAMA, num_key_value_heads=2, rope_parameters=STRETCHED)),
        ("LlamaForCausalLM", hf.LlamaConfig(**LLAMA, tie_word_embeddings=True, attention_bias=True, mlp_bias=True)),
        ("LlamaForCausalLM", hf.LlamaConfig(**LLAMA, head_dim=6)),
        ("LlamaModel", hf.LlamaConfig(**LLAMA)),
        ("LlamaForSequenceClassification", hf.LlamaConfig(**LLAMA, num_labels=3)),
        ("LlamaForTokenClassification", hf.LlamaConfig(**LLAMA, num_labels=3, classifier_dropout=0.0)),
        ("MistralForCausalLM", hf.MistralConfig(**LLAMA, num_key_value_heads=2, sliding_window=4)),
    ],
    ids=["plain", "grouped and stretched", "tied and biased", "narrow heads", "states", "class", "tags", "window"],
)
def test_agrees(kind, config, tmp_path):
    check(reference(kind, config), tmp_path)


@pytest.mark.parametrize("kind", ["dynamic", "yarn", "longrope"])
def test_other_stretches_are_refused_by_name(kind):
    plain = {**LLAMA, "model_type": "llama", "rope_parameters": {"rope_type": kind, "rope_theta": 1e4, "factor": 8.0}}
    with pytest.raises(ValueError, match=f"'{kind}'.*default, linear, llama3 are"):
        read_config(Keys(plain))


def test_a_key_that_nobody_knows_is_refused():
    with pytest.raises(ValueError, match="has use_qk_norm, which the reader for llama does not know"):
        read_config(Keys({**LLAMA, "model_type": "llama", "use_qk_norm": True}))


def test_what_is_absent_is_reported_as_assumed():
    keys = Keys({**LLAMA, "model_type": "llama"})
    read_config(keys)
    assert keys.assumed["rms_norm_eps"] == 1e-6
    assert keys.assumed["rope_theta"] == 10_000.0
