"""The doctor's look at questions: good data has nothing wrong, and files are looked at together."""

import json

from clearformer.tasks.automatic.question_doctor import SHOWN, examine_questions


def write(path, starts):
    paragraphs = [
        {
            "context": f"{number} dogs",
            "qas": [
                {"id": f"{path.stem}{number}", "question": "Who?", "answers": [{"text": "dogs", "answer_start": at}]}
            ],
        }
        for number, at in enumerate(starts)
    ]
    path.write_text(json.dumps({"data": [{"paragraphs": paragraphs}]}), encoding="utf-8")
    return path


def test_nothing_is_wrong_with_good_questions(tmp_path):
    usable, report = examine_questions([write(tmp_path / "a.json", [2, 2, 2])])
    assert (report.questions, report.texts, report.unanswered) == (3, 3, 0)
    assert len(usable) == 3
    assert "nothing wrong was found" in report.to_text()


def test_all_are_counted_and_some_are_shown(tmp_path):
    usable, report = examine_questions([write(tmp_path / "a.json", [2] * 3 + [1] * 7)])
    assert len(usable) == 3
    assert report.totals == {"an answer that is left out": 7}
    assert len(report.findings) == SHOWN


def test_a_question_in_two_files_is_a_repeat(tmp_path):
    files = [write(tmp_path / f"{name}.json", [2, 2, 2]) for name in "ab"]
    assert examine_questions(files)[1].totals == {"a question that is asked twice of a text": 3}
