"""SmolLM3 beside its published implementation."""

import pytest
import transformers as hf

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.smollm3 import read_config
from interop.references import LLAMA, check, reference

FOUR = LLAMA | {"num_hidden_layers": 4, "num_key_value_heads": 2}


@pytest.mark.parametrize(
    "more",
    [{}, {"no_rope_layers": [1, 0, 0, 1], "use_sliding_window": True, "sliding_window": 3}],
    ids=["every fourth", "listed, with a window"],
)
def test_agrees(more, tmp_path):
    check(reference("SmolLM3ForCausalLM", hf.SmolLM3Config(**FOUR, **more)), tmp_path)


def test_a_list_that_is_too_short_is_refused():
    with pytest.raises(ValueError, match="no_rope_layers must be a one or a zero for each layer"):
        read_config(Keys({**FOUR, "model_type": "smollm3", "no_rope_layers": [1, 0]}))
