"""DeiT beside its published implementation: two tokens before the patches, and one or two classifiers."""

import pytest
import torch
import transformers as hf

from clearformer.interop.importer import read_hugging_face
from interop.hf.test_vit import VIT
from interop.references import check, reference


@pytest.mark.parametrize("kind", ["DeiTForImageClassification", "DeiTForImageClassificationWithTeacher", "DeiTModel"])
def test_agrees(kind, tmp_path):
    check(reference(kind, hf.DeiTConfig(**VIT)), tmp_path)


def test_both_classifiers_have_a_say(tmp_path):
    theirs = reference("DeiTForImageClassificationWithTeacher", hf.DeiTConfig(**VIT))
    theirs.save_pretrained(tmp_path)
    model = read_hugging_face(tmp_path).bundle.model.eval()
    pictures = torch.randn(2, 3, 8, 8)
    states = model.encode(pictures).states
    own, taught = model.head.classify(states[:, 0]), model.head.classify_taught(states[:, 1])
    torch.testing.assert_close(model(pictures), (own + taught) / 2)
    assert not torch.allclose(own, taught)
