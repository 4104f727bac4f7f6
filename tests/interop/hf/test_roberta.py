"""RoBERTa beside its published implementation; positions begin behind the padding's number."""

import pytest
import transformers as hf

from interop.references import BERT, LIMIT, check, reference

HEADS = ("Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")
ROBERTA = BERT | {"max_position_embeddings": LIMIT + 2, "type_vocab_size": 1}


@pytest.mark.parametrize("head", HEADS)
def test_agrees(head, tmp_path):
    labels = {"num_labels": 2} if head == "ForQuestionAnswering" else {}
    check(reference(f"Roberta{head}", hf.RobertaConfig(**ROBERTA | labels)), tmp_path)
