"""Texts that stand in the training file and in the test file, for each kind of file."""

import json

import pytest

from clearformer.tasks.automatic.file_overlap import file_overlap


def asked(*names):
    rows = [
        {
            "context": f"{name} lived.",
            "qas": [{"id": name, "question": "Who?", "answers": [{"text": name, "answer_start": 0}]}],
        }
        for name in names
    ]
    return json.dumps({"data": [{"title": "t", "paragraphs": rows}]})


KINDS = {
    "csv": ("text,label\nA dog,x\nb,y\n", "label,text\nx,a  DOG\ny,c\n", ":2: as "),
    "jsonl": (
        '{"email": "a long text here", "subject": "a"}\n',
        '{"email": "A long text here", "subject": "b"}\n{"email": "another", "subject": "c"}\n',
        ":1: as ",
    ),
    "conll": ("Rome\tB-LOC\n\n" * 12, "Oslo\tB-LOC\n\n" * 12 + "Rome\tB-LOC\n", ":25: as "),
    "json": (asked("Ada", "Bob"), asked("Eve", "Ada"), ", question Ada: as "),
    "txt": ("one\n\ntwo\n", "\nthree\ntwo\n", ":3: as "),
}


@pytest.mark.parametrize("ending", KINDS)
def test_what_both_have_is_found_with_its_places(tmp_path, ending):
    train, test = tmp_path / f"train.{ending}", tmp_path / f"test.{ending}"
    train.write_text(KINDS[ending][0])
    test.write_text(KINDS[ending][1])
    report = file_overlap(train, test)
    [found] = report.found
    assert found.startswith(f"{test}{KINDS[ending][2]}{train}")
    assert json.loads(report.to_json())["shared"] == 1
    assert "take them out" in report.to_text()
    assert not file_overlap(train, _empty(tmp_path / f"none.{ending}", ending)).found


def _empty(path, ending):
    path.write_text({"csv": "text,label\nq,r\n", "json": asked("Zoe")}.get(ending, "nothing of that\tO\n"))
    if ending == "jsonl":
        path.write_text('{"email": "unlike", "subject": "z"}\n')
    return path


def test_the_same_file_is_all_in_itself(tmp_path):
    table = tmp_path / "a.csv"
    table.write_text("text,label\none,x\ntwo,y\n")
    report = file_overlap(table, table)
    assert report.texts == len(report.found) == 2
