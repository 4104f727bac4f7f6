"""Readers cannot tell the engines apart: the same classes, tags, answers and vectors."""

import pytest
import torch

from clearformer.inference.answer_finder import Answerer
from clearformer.inference.engine_network import EngineNetwork
from clearformer.inference.engines import open_bundle
from clearformer.inference.text_readers import Classifier, Embedder
from clearformer.inference.word_tagger import Tagger
from support.toy_models import texts
from support.toy_readers import HEADS, bert, saved

TEXTS = texts(11, seed=8)


def both(tmp_path, head, **provenance):
    saved(tmp_path / "model", bert(max_len=24), HEADS[head], **provenance)
    opened = {engine: open_bundle(tmp_path / "model", engine) for engine in ("torch", "ctranslate2")}
    assert isinstance(opened["ctranslate2"].model, EngineNetwork)
    return opened["torch"], opened["ctranslate2"]


@pytest.mark.parametrize("head", ["class", "class with a pooler", "class of the mean"])
def test_classes_are_the_same(head, tmp_path):
    """Also of pairs, and of a text that is read in windows."""
    given = [*TEXTS, ("two dog", "the snow"), "the cat plays in the snow " * 9]
    torches, fast = (Classifier(one) for one in both(tmp_path, head))
    expected = torches.classify(given)
    assert [one.label for one in fast.classify(given)] == [one.label for one in expected]
    for batch in (1, 3, 32):
        for ours, theirs in zip(fast.classify(given, batch=batch), expected, strict=True):
            assert ours.scores == pytest.approx(theirs.scores, abs=1e-4)


@pytest.mark.parametrize("provenance", [{}, {"words": "words"}], ids=["imported", "trained here"])
def test_tags_are_the_same(provenance, tmp_path):
    torches, fast = (Tagger(one) for one in both(tmp_path, "tags", **provenance))
    for text in ["two dog plays in the snow", "Straße 雪 cat"]:
        ours, theirs = fast.tag(text), torches.tag(text)
        assert [(one.word, one.label, one.start) for one in ours] == [
            (one.word, one.label, one.start) for one in theirs
        ]
        assert [one.probability for one in ours] == pytest.approx([one.probability for one in theirs], abs=1e-4)
    words = [text.split() for text in TEXTS]
    assert fast.tag_words(words, batch=4) == torches.tag_words(words, batch=4)


def test_answers_are_the_same(tmp_path):
    torches, fast = (Answerer(one) for one in both(tmp_path, "span", no_answer=True))
    asked = [("two dog", text + " the snow in the cat") for text in TEXTS]
    for ours, theirs in zip(fast.answer_all(asked), torches.answer_all(asked), strict=True):
        assert (ours.text, ours.start, ours.end) == (theirs.text, theirs.start, theirs.end)
        assert ours.score == pytest.approx(theirs.score, abs=1e-4)


def test_vectors_are_the_same_alone_and_in_company(tmp_path):
    torches, fast = (Embedder(one) for one in both(tmp_path, "states"))
    short = [text[:12] for text in TEXTS]
    together = fast.embed(short)
    torch.testing.assert_close(together, torches.embed(short), atol=1e-4, rtol=0)
    for text, among in zip(short, together, strict=True):
        torch.testing.assert_close(fast.embed(text)[0], among, atol=1e-4, rtol=0)


def test_a_reader_says_by_whom_it_is_run(tmp_path):
    torches, fast = (Embedder(one) for one in both(tmp_path, "states"))
    assert repr(fast) == "Embedder(bert, by ctranslate2, reads 24 tokens)"
    assert "M parameters" in repr(torches)


def test_padding_on_the_left_is_refused(tmp_path):
    _, fast = both(tmp_path, "states")
    with pytest.raises(ValueError, match="padding to their right only"):
        fast.model(torch.tensor([[0, 5]]), keep=torch.tensor([[False, True]]))


def test_who_wants_to_look_inside_is_told_where(tmp_path):
    _, fast = both(tmp_path, "class")
    for way in ("rollout", "gradient"):
        with pytest.raises(ValueError, match="ctranslate2 cannot be looked inside; open the folder that was trained"):
            Classifier(fast).why("two dog plays", why=way)
