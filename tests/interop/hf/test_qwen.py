"""Qwen 2 and 3 beside their published implementations."""

import pytest
import transformers as hf

from interop.references import LLAMA, check, reference

GROUPED = LLAMA | {"num_key_value_heads": 2}
NEAR = {"use_sliding_window": True, "sliding_window": 4, "max_window_layers": 1}


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("Qwen2ForCausalLM", hf.Qwen2Config(**GROUPED)),
        ("Qwen2ForSequenceClassification", hf.Qwen2Config(**GROUPED, **NEAR, num_labels=3)),
        ("Qwen3ForCausalLM", hf.Qwen3Config(**GROUPED, head_dim=12, **NEAR)),
        ("Qwen3Model", hf.Qwen3Config(**GROUPED, head_dim=8, attention_bias=True)),
    ],
    ids=["2", "2 with a window", "3 with a window", "3 biased"],
)
def test_agrees(kind, config, tmp_path):
    check(reference(kind, config), tmp_path)
