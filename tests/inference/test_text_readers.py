"""Readers of text: batches change nothing, and near texts have near vectors."""

import pytest
import torch

from clearformer.inference.text_readers import Classifier, Embedder
from clearformer.model.config import HeadConfig
from inference.published_readers import opened


def test_a_class_does_not_depend_on_the_company(tmp_path):
    head = HeadConfig(kind="class", labels=3, pooler=True)
    classifier = Classifier(opened(tmp_path, head, "BertForSequenceClassification"))
    texts = ["two dogs", "the dog", "play in the snow .", "snow"]
    together = classifier.classify(texts)
    for text, found in zip(texts, together, strict=True):
        [alone] = classifier.classify(text)
        assert alone.label == found.label
        assert alone.scores == pytest.approx(found.scores, abs=1e-5)


def test_vectors_have_length_one_and_equal_texts_meet(tmp_path):
    embedder = Embedder(opened(tmp_path, HeadConfig(kind="states", pooler=True), "BertModel"))
    vectors = embedder.embed(["two dogs", "the snow .", "two dogs"])
    torch.testing.assert_close(vectors.norm(dim=1), torch.ones(3))
    torch.testing.assert_close(vectors[0], vectors[2], rtol=1e-5, atol=1e-5)
    assert float(vectors[0] @ vectors[1]) < 0.999


def test_an_empty_text_and_another_head_are_refused(tmp_path):
    made = opened(tmp_path, HeadConfig(kind="states", pooler=True), "BertModel")
    with pytest.raises(
        ValueError, match="an encoder that embeds texts, not one that classifies texts; use `clearformer embed`"
    ):
        Classifier(made)
