"""Files of answered questions: what is written is read again, and nonsense is refused by its line."""

import json

import pytest

from clearformer.data.readers.soft_answers import SoftSpan, TaughtQuestion, header, question_record, read_taught
from clearformer.data.readers.soft_labels import SoftLabelError
from clearformer.data.readers.squad import AskedQuestion, GivenAnswer

ASKED = AskedQuestion("q1", "谁？", "Ada lived\u2028here.", (GivenAnswer("Ada", 0),))


def write(path, *records):
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), encoding="utf-8")
    return path


def test_questions_come_back_as_they_were_written(tmp_path):
    given = [
        TaughtQuestion(ASKED, True, (SoftSpan(0, 3, 0.75), SoftSpan(4, 9, 0.25))),
        TaughtQuestion(ASKED._replace(answers=()), True, ()),  # people say that there is none
        TaughtQuestion(ASKED._replace(answers=()), False, (SoftSpan(0, 3, 0.5),)),
    ]
    path = write(tmp_path / "l", header(), *map(question_record, given))
    assert list(read_taught(path)) == given


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"question": 3}, "line 2 should have id, question and context"),
        ({"answers": [{"text": "Bob", "answer_start": 0}]}, "line 2: an answer is not a passage of the context"),
        ({"soft": [[0, 3]]}, "line 2: soft should have a start, an end and a probability each"),
        ({"soft": [[3, 3, 0.5]]}, "line 2: .* is no passage with a probability"),
        ({"soft": [[0, 99, 0.5]]}, "line 2: .* is no passage with a probability"),
        ({"soft": [[0, 3, 0.7], [0, 2, 0.7]]}, "line 2: the probabilities add up to more than 1"),
    ],
)
def test_what_is_no_lesson_is_refused_by_its_line(change, said, tmp_path):
    path = write(tmp_path / "l", header(), question_record(TaughtQuestion(ASKED, True, ())) | change)
    with pytest.raises(SoftLabelError, match=said):
        list(read_taught(path))


def test_lessons_of_another_kind_are_refused(tmp_path):
    with pytest.raises(SoftLabelError, match="line 1 should say kind 'answers'"):
        list(read_taught(write(tmp_path / "l", {"kind": "tags", "labels": []})))
