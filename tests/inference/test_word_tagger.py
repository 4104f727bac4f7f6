"""Taggers: words keep their places, and an entity knows how probable it is."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from clearformer.inference.word_tagger import Tagger
from clearformer.model.config import HeadConfig
from inference.published_readers import opened


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
