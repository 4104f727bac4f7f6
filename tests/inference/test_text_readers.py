"""Readers of text: batches change nothing, words keep their places, and near texts have near vectors."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from clearformer.inference.text_readers import Answerer, Classifier, Embedder, Tagger
from clearformer.interop.importer import read_hugging_face
from clearformer.model.config import HeadConfig
from interop.folders import bert_folder


def opened(folder, head, architecture):
    torch.manual_seed(0)
    names = {str(number): f"kind {number}" for number in range(head.labels)}
    bert_folder(folder, head, architecture, **({"id2label": names} if head.kind in ("class", "tags") else {}))
    return read_hugging_face(folder).bundle


def test_a_class_does_not_depend_on_the_company(tmp_path):
    head = HeadConfig(kind="class", labels=3, pooler=True)
    classifier = Classifier(opened(tmp_path, head, "BertForSequenceClassification"))
    texts = ["two dogs", "the dog", "play in the snow .", "snow"]
    together = classifier.classify(texts)
    for text, found in zip(texts, together, strict=True):
        [alone] = classifier.classify(text)
        assert alone.label == found.label
        assert alone.scores == pytest.approx(found.scores, abs=1e-5)


def test_a_word_of_two_pieces_has_one_tag(tmp_path):
    tagger = Tagger(opened(tmp_path, HeadConfig(kind="tags", labels=3), "BertForTokenClassification"))
    tags = tagger.tag("plays  snow")  # play ##s
    assert [tag.word for tag in tags] == ["plays", "snow"]


def test_entities_of_an_imported_model_have_their_places(tmp_path):
    bundle = opened(tmp_path, HeadConfig(kind="tags", labels=3), "BertForTokenClassification")
    with pytest.raises(ValueError, match=r"this model's tags \(kind 0, .*\) mark no entities; use `tag`"):
        Tagger(bundle).entities("two dogs")
    labels = ("O", "B-X", "I-X")
    tagger = Tagger(replace(bundle, preprocessing=replace(bundle.preprocessing, labels=labels)))
    torch.nn.init.normal_(bundle.model.head.classify.weight, std=3.0)
    text = "  two dogs plays,  in the snow . " * 9
    found = tagger.entities(text)
    assert found
    assert all(text[one.start : one.end] == one.text == one.text.strip() for one in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all(0 < one.probability <= 1 for one in found)


def test_an_answer_is_never_part_of_the_question(tmp_path):
    answerer = Answerer(opened(tmp_path, HeadConfig(kind="span"), "BertForQuestionAnswering"))
    found = answerer.answer("dogs dogs dogs", "the snow")
    assert found.text in ("the", "snow", "the snow")
    with pytest.raises(ValueError, match="no words to answer with"):
        answerer.answer("dogs", " ")


def test_an_imported_model_s_score_is_the_passage_s_probability_in_its_window(tmp_path):
    """Of its first token nobody knows what it says, so the folder's silence means that an answer is always given."""
    made = opened(tmp_path, HeadConfig(kind="span"), "BertForQuestionAnswering")
    answerer = Answerer(made)
    assert not answerer.may_decline
    pair = made.tokenizer.encode_pair("dogs", "two dogs play in the snow")
    with torch.inference_mode():
        logits = made.model(torch.tensor([pair.ids]), types=torch.tensor([pair.types]))[0].log_softmax(0)
    inside = [place for place, second in enumerate(pair.second) if second]
    best = max(float(logits[a, 0] + logits[b, 1]) for a in inside for b in inside if a <= b < a + 3)
    found = answerer.answer("dogs", "two dogs play in the snow", longest=3)
    assert found.score == pytest.approx(best, abs=1e-4)


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
    means = embedder._means([embedder.tokenizer.encode(" ".join(one)).ids for one in windows])
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
