"""OPT beside its published implementation."""

import pytest
import transformers as hf

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.opt import read_config
from interop.references import DIM, HIDDEN, LLAMA, check, reference

OPT = {key: value for key, value in LLAMA.items() if key != "intermediate_size"} | {
    "ffn_dim": HIDDEN, "word_embed_proj_dim": DIM, "dropout": 0.0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("OPTForCausalLM", {}),
        ("OPTModel", {"do_layer_norm_before": False, "enable_bias": False}),
        ("OPTForCausalLM", {"do_layer_norm_before": False, "word_embed_proj_dim": 16}),
        ("OPTForCausalLM", {"tie_word_embeddings": False, "word_embed_proj_dim": 48}),
    ],
    ids=["pre-norm", "post-norm without biases", "350M", "a wider table of its own"],
)
def test_agrees(kind, more, tmp_path):
    check(reference(kind, hf.OPTConfig(**OPT | more)), tmp_path)


def test_only_a_language_model_has_a_narrower_table():
    plain = {**OPT, "model_type": "opt", "word_embed_proj_dim": 16}
    with pytest.raises(ValueError, match="word_embed_proj_dim is 16, and only a language model"):
        read_config(Keys(plain | {"architectures": ["OPTModel"]}))
    assert read_config(Keys(plain | {"architectures": ["OPTForCausalLM"]})).head.narrow
    absent = {key: value for key, value in OPT.items() if key != "word_embed_proj_dim"}
    assert read_config(Keys({**absent, "model_type": "opt"})).dim == DIM
