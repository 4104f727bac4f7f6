"""Gemma 1 to 3 beside their published implementations."""

import pytest
import transformers as hf

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.gemma import read_config
from interop.references import LLAMA, check, reference

GROUPED = LLAMA | {"num_key_value_heads": 2, "num_hidden_layers": 3, "head_dim": 12}
BENT = {"sliding_window": 4, "query_pre_attn_scalar": 20, "attn_logit_softcapping": 1.5, "final_logit_softcapping": 2.0}
BOTH = {
    "full_attention": {"rope_type": "linear", "factor": 4.0, "rope_theta": 5000.0},
    "sliding_attention": {"rope_type": "default", "rope_theta": 100.0},
}


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("GemmaForCausalLM", hf.GemmaConfig(**GROUPED)),
        ("Gemma2ForCausalLM", hf.Gemma2Config(**GROUPED, **BENT)),
        (
            "Gemma3ForCausalLM",
            hf.Gemma3TextConfig(**GROUPED, sliding_window=4, sliding_window_pattern=2, rope_parameters=BOTH),
        ),
    ],
    ids=["1", "2", "3"],
)
def test_agrees(kind, config, tmp_path):
    check(reference(kind, config), tmp_path)


def test_looking_to_both_sides_is_refused():
    """EmbeddingGemma is an encoder with the same names."""
    plain = {**GROUPED, "model_type": "gemma3_text", "use_bidirectional_attention": True}
    with pytest.raises(ValueError, match="use_bidirectional_attention is True, and only False is supported"):
        read_config(Keys(plain))
