"""Why this answer: the logits of its two ends, in the window that it was taken from."""

import pytest
import torch

from clearformer.inference.answer_finder import Answer, Answerer
from clearformer.inference.explained_reading import NO_ANSWER
from clearformer.interop.importer import read_hugging_face
from clearformer.model.config import HeadConfig
from interop.folders import bert_folder

QUESTION, CONTEXT = "dogs play", "two dogs play in the snow ."


@pytest.fixture(scope="module")
def answerer(tmp_path_factory):
    torch.manual_seed(3)
    folder = tmp_path_factory.mktemp("span")
    bert_folder(folder, HeadConfig(kind="span"), "BertForQuestionAnswering")
    return Answerer(read_hugging_face(folder).bundle)


def test_the_logit_is_that_of_both_ends_of_the_passage(answerer):
    found = answerer.answer(QUESTION, CONTEXT)
    explained = answerer.why(QUESTION, CONTEXT, found)
    assert explained.of == found.text
    pair = answerer.tokenizer.encode_pair(QUESTION, CONTEXT)
    with torch.inference_mode():
        logits = answerer.model(torch.tensor([pair.ids]), types=torch.tensor([pair.types]))[0]
    inside = [n for n, (a, b) in enumerate(pair.offsets) if pair.second[n] and a < found.end and b > found.start]
    check = explained.attributions[1].completeness
    assert check.logit == pytest.approx(float(logits[inside[0], 0] + logits[inside[-1], 1]), abs=1e-4)
    assert check.error < 1e-2
    words = [(word.part, word.word) for word in explained.attributions[0].words]
    assert words == [*(("question", w) for w in QUESTION.split()), *(("context", w) for w in CONTEXT.split())]
    assert [one.marker for one in explained.attributions[0].markers] == ["[CLS]", "[SEP]", "[SEP]"]
    assert sum(w.score for w in explained.attributions[0].words) < 1


def test_a_passage_of_a_long_context_is_explained_in_its_own_window(answerer):
    context = "the snow . in the snow . " * 4 + "two dogs"
    found = answerer.answer(QUESTION, context, longest=2)
    explained = answerer.why(QUESTION, context, found)
    assert explained.windows == 1
    for one in explained.attributions:
        outside = [word for word in one.words if word.part == "context" and abs(word.start - found.start) > 120]
        assert all(word.score == 0 for word in outside), "what is not in the window cannot count"
        assert len(one.words) == len(QUESTION.split()) + len(context.split())
    assert explained.attributions[1].completeness.error < 1e-2


def test_where_nothing_was_answered_the_first_token_is_explained_in_every_window(answerer):
    context = "the snow . in the snow . " * 4
    nothing = Answer(text="", score=-0.1, start=0, end=0)
    explained = answerer.why(QUESTION, context, nothing)
    assert explained.of == NO_ANSWER
    assert explained.windows > 1
    assert explained.attributions[1].completeness.error < 1e-2
    assert sum(one.score for group in ("words", "markers") for one in getattr(explained.attributions[0], group)) == (
        pytest.approx(1)
    )


def test_an_endless_context_is_refused(answerer):
    with pytest.raises(ValueError, match=r"the text has [\d,]+ tokens, and at most 8,192 are explained; shorten it"):
        answerer.why(QUESTION, "snow " * 20_000, Answer(text="snow", score=-1.0, start=0, end=4))
