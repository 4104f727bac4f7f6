"""RoFormer beside its published implementation, with every head."""

import pytest
import transformers as hf

from interop.references import BERT, check, reference

HEADS = ("Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")


@pytest.mark.parametrize("head", HEADS)
def test_agrees(head, tmp_path):
    labels = {"num_labels": 2} if head == "ForQuestionAnswering" else {}
    check(reference(f"RoFormer{head}", hf.RoFormerConfig(**BERT | labels)), tmp_path)
