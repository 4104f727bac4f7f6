"""Mixtral and Qwen 3 with experts beside their published implementations."""

import pytest
import transformers as hf

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.mixtral import read_config
from interop.references import LLAMA, check, reference

MIXTRAL = LLAMA | {
    "num_key_value_heads": 2,
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "classifier_dropout": 0.0,
}
QWEN = LLAMA | {
    "num_key_value_heads": 2, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 12, "head_dim": 12,
}  # fmt: skip


@pytest.mark.parametrize("more", [{}, {"sliding_window": 5, "head_dim": 12, "tie_word_embeddings": True}])
@pytest.mark.parametrize("kind", ["Model", "ForCausalLM", "ForTokenClassification"])
def test_mixtral_agrees(kind, more, tmp_path):
    check(reference(f"Mixtral{kind}", hf.MixtralConfig(**MIXTRAL | more)), tmp_path)


@pytest.mark.parametrize("more", [{}, {"norm_topk_prob": True, "use_sliding_window": True, "sliding_window": 5}])
def test_qwen_agrees(more, tmp_path):
    check(reference("Qwen3MoeForCausalLM", hf.Qwen3MoeConfig(**QWEN | more)), tmp_path)


@pytest.mark.parametrize(
    ("model_type", "more", "message"),
    [
        ("mixtral", {"num_experts_per_tok": 5}, "num_experts_per_tok is 5, but there are 4 experts"),
        ("mixtral", {"router_jitter_noise": 0.1}, "router_jitter_noise is 0.1"),
        ("mixtral", {"num_experts": 8}, "another name for it"),
        ("qwen3_moe", {"mlp_only_layers": [0]}, "layers without experts"),
        ("qwen3_moe", {"decoder_sparse_step": 2}, "decoder_sparse_step is 2"),
    ],
)
def test_what_is_refused(model_type, more, message):
    base = MIXTRAL if model_type == "mixtral" else QWEN
    with pytest.raises(ValueError, match=message):
        read_config(Keys(base | {"model_type": model_type} | more))
