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


def test_a_long_text_s_vector_is_the_mean_of_its_windows_weighted_by_length(tmp_path):
    """The model reads 24 tokens: 22 pieces between two markers, a new window every 11."""
    embedder = Embedder(opened(tmp_path, HeadConfig(kind="states", pooler=True), "BertModel"))
    words = ("two dogs play in the snow . the dog " * 4).split()[:35]
    windows = [words[0:22], words[11:33], words[22:35]]
    means = embedder._pooled([embedder.tokenizer.encode(" ".join(one)).ids for one in windows])
    weights = torch.tensor([24.0, 24.0, 15.0])
    expected = torch.nn.functional.normalize((means * weights[:, None]).sum(0), dim=0)
    alone = embedder.embed(" ".join(words))[0]
    torch.testing.assert_close(alone, expected, rtol=1e-5, atol=1e-5)
    among = embedder.embed(["two dogs", " ".join(words), "the snow"], batch=2)
    torch.testing.assert_close(among[1], expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(among[0], embedder.embed("two dogs")[0], rtol=1e-5, atol=1e-5)


def test_the_end_of_a_long_text_counts(tmp_path):
    """Nothing is cut: another last word is another vector."""
    embedder = Embedder(opened(tmp_path, HeadConfig(kind="states", pooler=True), "BertModel"))
    one, other = embedder.embed(["two dogs " * 500 + "snow", "two dogs " * 500 + "play"])
    assert not torch.equal(one, other)


@pytest.mark.parametrize("nothing", ["", "  ", "\t\n"])
def test_a_text_without_words_is_refused_by_its_number(tmp_path, nothing):
    embedder = Embedder(opened(tmp_path, HeadConfig(kind="states", pooler=True), "BertModel"))
    with pytest.raises(ValueError, match="text 2 is empty"):
        embedder.embed(["two dogs", nothing])
    with pytest.raises(ValueError, match=r"text 2 cannot be read: .*half a surrogate pair"):
        embedder.embed(["two dogs", "snow \udc80"])
    assert embedder.embed([]).shape == (0, 16)


def test_an_empty_text_and_another_head_are_refused(tmp_path):
    made = opened(tmp_path, HeadConfig(kind="states", pooler=True), "BertModel")
    with pytest.raises(
        ValueError, match="an encoder that embeds texts, not one that classifies texts; use `clearformer embed`"
    ):
        Classifier(made)


def test_a_pair_is_read_as_the_published_model_reads_it(tmp_path):
    """With the types that transformers' own tokenizer and model give to two texts."""
    from transformers import AutoTokenizer, BertForSequenceClassification

    head = HeadConfig(kind="class", labels=3, pooler=True)
    classifier = Classifier(opened(tmp_path, head, "BertForSequenceClassification"))
    pair = ("two dogs play", "the dog in the snow .")
    theirs = BertForSequenceClassification.from_pretrained(tmp_path).eval()
    inputs = AutoTokenizer.from_pretrained(tmp_path)(*pair, return_tensors="pt")
    assert set(inputs["token_type_ids"][0].tolist()) == {0, 1}
    with torch.inference_mode():
        expected = theirs(**inputs).logits
    torch.testing.assert_close(classifier.logits([pair])[0], expected, atol=1e-5, rtol=1e-5)
    assert not torch.allclose(classifier.logits([pair[::-1]])[0], expected, atol=1e-4)
