"""DistilBERT beside its published implementation; its classifier has a ReLU."""

import pytest
import transformers as hf

from interop.references import DIM, HIDDEN, LAYERS, LIMIT, PAD, VOCAB, check, reference

HEADS = ("Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")
DISTILBERT = {
    "vocab_size": VOCAB, "dim": DIM, "hidden_dim": HIDDEN, "n_layers": LAYERS, "n_heads": 4, "pad_token_id": PAD,
    "max_position_embeddings": LIMIT, "dropout": 0.0, "attention_dropout": 0.0, "seq_classif_dropout": 0.0,
    "qa_dropout": 0.0, "num_labels": 3,
}  # fmt: skip


@pytest.mark.parametrize("head", HEADS)
def test_agrees(head, tmp_path):
    labels = {"num_labels": 2} if head == "ForQuestionAnswering" else {}
    check(reference(f"DistilBert{head}", hf.DistilBertConfig(**DISTILBERT | labels)), tmp_path)
