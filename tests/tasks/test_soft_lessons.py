"""Files of lessons: whole or absent, kept for the same teacher, and told about in portions."""

import json

import pytest

from clearformer.tasks import soft_lessons
from clearformer.tasks.soft_lessons import check_labels, in_portions, write_lessons

FACTS, FIRST = {"teacher": "a"}, {"kind": "one", "labels": []}


def test_an_interruption_leaves_nothing(tmp_path):
    def broken():
        yield {"text": "one"}
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_lessons(tmp_path / "lessons", FACTS, FIRST, broken)
    assert not (tmp_path / "lessons").exists()
    path = write_lessons(tmp_path / "lessons", FACTS, FIRST, lambda: iter([{"text": "两"}]))
    assert [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] == [FIRST, {"text": "两"}]


def test_lessons_that_are_there_are_not_written_again(tmp_path):
    path = write_lessons(tmp_path / "lessons", FACTS, FIRST, lambda: iter([]))

    def never():
        raise AssertionError("asked for again")

    assert write_lessons(tmp_path / "lessons", FACTS, FIRST, never) == path
    path.write_text("other\n")
    with pytest.raises(ValueError, match=r"lessons\.jsonl"):
        write_lessons(tmp_path / "lessons", FACTS, FIRST, never)


def test_portions_have_every_row_once(monkeypatch):
    monkeypatch.setattr(soft_lessons, "AT_ONCE", 3)
    seen: list[tuple[int, int]] = []
    assert list(in_portions(range(7), lambda done, total: seen.append((done, total)))) == [[0, 1, 2], [3, 4, 5], [6]]
    assert seen == [(3, 7), (6, 7), (7, 7)]


def test_other_labels_are_refused_by_name():
    check_labels(("a", "b"), ("b", "a"))
    with pytest.raises(ValueError, match="the teacher lacks the label 'c' of the training data"):
        check_labels(("a", "b"), ("a", "b", "c"))
    with pytest.raises(ValueError, match="the teacher knows the label 'b', which the training data lacks"):
        check_labels(("a", "b"), ("a",))
