"""GPT-2 beside its published implementation."""

import pytest
import torch
import transformers as hf
from safetensors.torch import load_file, save_file

from clearformer.interop.importer import read_hugging_face
from clearformer.interop.tensor_files import WHOLE
from interop.references import DIM, HEADS, HIDDEN, LAYERS, LIMIT, PAD, VOCAB, agree, check, reference

GPT2 = {
    "vocab_size": VOCAB, "n_embd": DIM, "n_inner": HIDDEN, "n_layer": LAYERS, "n_head": HEADS, "n_positions": LIMIT,
    "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": PAD, "embd_pdrop": 0.0, "resid_pdrop": 0.0, "attn_pdrop": 0.0,
    "classifier_dropout": 0.0, "num_labels": 3,
}  # fmt: skip


@pytest.mark.parametrize(
    "kind", ["GPT2LMHeadModel", "GPT2Model", "GPT2ForSequenceClassification", "GPT2ForTokenClassification"]
)
def test_agrees(kind, tmp_path):
    check(reference(kind, hf.GPT2Config(**GPT2)), tmp_path)


def test_the_published_file_without_prefix_and_with_masks(tmp_path):
    """The first GPT-2 names its tensors h.0.… though a head stands above, and carries triangles of ones."""
    theirs = reference("GPT2LMHeadModel", hf.GPT2Config(**GPT2))
    theirs.save_pretrained(tmp_path)
    tensors = {name.removeprefix("transformer."): value for name, value in load_file(tmp_path / WHOLE).items()}
    tensors |= {f"h.{layer}.attn.bias": torch.ones(1, 1, 4, 4).tril() for layer in range(LAYERS)}
    save_file(tensors, tmp_path / WHOLE)
    found = read_hugging_face(tmp_path)
    assert list(found.aside) == ["h.0.attn.bias", "h.1.attn.bias"]
    agree(found.bundle.model, theirs, found.bundle.config)


def test_scores_divided_by_the_layer_are_refused(tmp_path):
    config = hf.GPT2Config(**GPT2, scale_attn_by_inverse_layer_idx=True)
    reference("GPT2LMHeadModel", config).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="scale_attn_by_inverse_layer_idx is True"):
        read_hugging_face(tmp_path)
