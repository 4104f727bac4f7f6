"""GPT-NeoX and Pythia beside their published implementation."""

import pytest
import transformers as hf

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.gpt_neox import read_config
from interop.references import LLAMA, check, reference


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("GPTNeoXForCausalLM", {}),
        ("GPTNeoXForCausalLM", {"use_parallel_residual": False, "attention_bias": False, "tie_word_embeddings": True}),
        ("GPTNeoXForSequenceClassification", {"num_labels": 3}),
    ],
    ids=["side by side", "one after the other", "class"],
)
def test_agrees(kind, more, tmp_path):
    check(reference(kind, hf.GPTNeoXConfig(**LLAMA, **more)), tmp_path)


def test_two_bases_that_differ_are_refused():
    plain = {**LLAMA, "model_type": "gpt_neox", "rotary_emb_base": 500, "rope_theta": 10_000.0}
    with pytest.raises(ValueError, match="rotary_emb_base is 500, but the angles are those of 10000"):
        read_config(Keys(plain))
