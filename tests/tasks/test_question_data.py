"""What a model that answers learns from: parts that share no text, and questions that a text does not answer."""

import json

import pytest

from clearformer.data.readers.squad import read_questions
from clearformer.tasks.question_data import QuestionData, ask_elsewhere, split, unlabelled
from tasks.test_answers import write


def test_no_text_is_in_two_parts(tmp_path):
    write(tmp_path / "train.json", 200)
    learned, held = split(QuestionData(train="train.json", hold_out=0.2), tmp_path)
    assert held
    assert not {asked.context for asked in learned} & {asked.context for asked in held}


def test_a_question_asked_elsewhere_has_no_answer_there(tmp_path):
    questions = list(read_questions(write(tmp_path / "many.json", 200)))
    moved = list(ask_elsewhere(questions, 0.5))
    assert moved == list(ask_elsewhere(questions, 0.5))
    by_id = {asked.id: asked for asked in questions}
    for asked in moved:
        assert asked.answers == ()
        assert by_id[asked.id].answers[0].text not in asked.context
    assert not list(ask_elsewhere(questions, 0.0))


def test_a_question_that_nobody_answered_needs_no_answers(tmp_path):
    asked = [{"id": "a", "question": "who ?"}, {"id": "b", "question": "where ?", "answers": []}]
    (tmp_path / "more.json").write_text(json.dumps({"data": [{"paragraphs": [{"context": "Ada.", "qas": asked}]}]}))
    found = list(unlabelled(QuestionData(unlabelled="more.json"), tmp_path))
    assert [(one.question, one.context, one.answers) for one in found] == [
        ("who ?", "Ada.", ()),
        ("where ?", "Ada.", ()),
    ]
    with pytest.raises(ValueError, match="question a: 'answers' is missing"):
        list(read_questions(tmp_path / "more.json"))


def test_one_text_is_too_few(tmp_path):
    write(tmp_path / "train.json", 1)
    with pytest.raises(ValueError, match="give questions about two texts at least"):
        split(QuestionData(train="train.json"), tmp_path)
