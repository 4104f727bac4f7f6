"""ALBERT beside its published implementation: one layer, run twice."""

import pytest
import transformers as hf

from clearformer.interop.importer import read_hugging_face
from interop.references import BERT, check, reference

HEADS = ("Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")
ALBERT = BERT | {"embedding_size": 16, "classifier_dropout_prob": 0.0}


@pytest.mark.parametrize("head", HEADS)
def test_agrees(head, tmp_path):
    labels = {"num_labels": 2} if head == "ForQuestionAnswering" else {}
    check(reference(f"Albert{head}", hf.AlbertConfig(**ALBERT | labels)), tmp_path)


def test_several_groups_of_layers_are_refused(tmp_path):
    reference("AlbertModel", hf.AlbertConfig(**ALBERT | {"num_hidden_groups": 2})).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="num_hidden_groups is 2, and only 1 is supported"):
        read_hugging_face(tmp_path)


def test_an_embedding_as_wide_as_the_model_is_widened_all_the_same(tmp_path):
    check(reference("AlbertModel", hf.AlbertConfig(**ALBERT | {"embedding_size": 32})), tmp_path)
