"""Answers: the record of a task that imported models are used for."""

from clearformer.inference.text_readers import Answerer
from clearformer.tasks.answers import TASK
from support.every_kind import TEXTS, make


def test_an_answer_is_a_passage_of_the_context(tmp_path):
    import clearformer as cf

    model = cf.load(make("bert span", tmp_path / "m"))
    assert isinstance(model, Answerer)
    found = model.answer("who plays", TEXTS[0])
    assert TEXTS[0][found.start : found.end] == found.text
    assert TASK.verb.line(found) == f"{found.text}\t{found.score:.4f}"
    assert TASK.training is None
