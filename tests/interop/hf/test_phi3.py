"""Phi-3 beside its published implementation."""

import pytest
import transformers as hf

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.phi3 import read_config
from interop.references import LLAMA, check, reference


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("Phi3ForCausalLM", {"num_key_value_heads": 2}),
        ("Phi3ForTokenClassification", {"partial_rotary_factor": 0.5, "sliding_window": 4, "num_labels": 3}),
    ],
    ids=["joined projections", "heads that turn in part"],
)
def test_agrees(kind, more, tmp_path):
    config = hf.Phi3Config(**LLAMA, **more)
    config.classifier_dropout = 0.0
    check(reference(kind, config), tmp_path)


def test_the_long_versions_are_refused_by_name():
    rope = {"type": "longrope", "short_factor": [1.0] * 4, "long_factor": [2.0] * 4}
    with pytest.raises(ValueError, match="rotary angles of the kind 'longrope'"):
        read_config(Keys({**LLAMA, "model_type": "phi3", "rope_scaling": rope}))
