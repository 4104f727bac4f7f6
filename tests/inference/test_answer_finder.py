"""Answers are passages of the context, with probabilities that can be compared."""

import pytest
import torch

from clearformer.inference.answer_finder import Answerer
from clearformer.model.config import HeadConfig
from inference.published_readers import opened


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
