"""ViT beside its published implementation."""

import pytest
import transformers as hf

from interop.references import DIM, HEADS, HIDDEN, LAYERS, check, reference

VIT = {
    "hidden_size": DIM, "intermediate_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
    "image_size": 8, "patch_size": 4, "num_labels": 5,
}  # fmt: skip


@pytest.mark.parametrize("kind", ["ViTForImageClassification", "ViTModel"])
def test_agrees(kind, tmp_path):
    check(reference(kind, hf.ViTConfig(**VIT)), tmp_path)


def test_projections_without_bias(tmp_path):
    check(reference("ViTModel", hf.ViTConfig(**VIT, qkv_bias=False)), tmp_path)
