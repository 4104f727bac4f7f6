"""Texts and summaries from tables: columns as said, by name, or by length; classes are for classifiers."""

import csv
import json

import pytest

from clearformer.data.readers.summary_pairs import find_summary_columns, read_summaries
from clearformer.data.readers.tables import LabelledError

LONG = "Dear all, the meeting of number {} moves to another room, because ours is being painted this week."


def table(path, heads, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([heads, *rows])
    return path


@pytest.mark.parametrize(
    ("heads", "found"),
    [
        (["id", "email", "subject"], ("email", "subject")),
        (["n", "article", "highlights"], ("article", "highlights")),
        (["id", "words", "few"], ("words", "few")),
    ],
)
def test_columns_are_found_by_name_or_length(tmp_path, heads, found):
    path = table(tmp_path / "t.csv", heads, [[n, LONG.format(n), f"Meeting {n} moves"] for n in range(30)])
    columns = find_summary_columns(path)
    assert (columns.text, columns.summary) == found
    first = next(read_summaries(path, columns))
    assert (first.text, first.summary, first.place) == (LONG.format(0), "Meeting 0 moves", f"{path}:2")


@pytest.mark.parametrize(
    ("heads", "cells"),
    [
        (["text", "label"], lambda n: [LONG.format(n), ("good film", "bad film")[n % 2]]),  # classes
        (["title", "text", "label"], lambda n: [f"Title {n} is", LONG.format(n), "ab"[n % 2]]),  # a table of classes
        (["text", "number"], lambda n: [LONG.format(n), n]),
        (["sentence1", "sentence2"], lambda n: [LONG.format(n), LONG.format(n + 1)]),  # as long as the other
    ],
)
def test_what_is_no_summary_is_none(tmp_path, heads, cells):
    assert find_summary_columns(table(tmp_path / "t.csv", heads, [cells(n) for n in range(30)])) is None


def test_what_other_people_wrote_comes_along(tmp_path):
    path = tmp_path / "t.jsonl"
    row = {"email": LONG.format(1), "subject": " Room \n moves ", "annotations": ["new room", "another room"]}
    path.write_text(json.dumps(row) + "\n")
    [found] = read_summaries(path, find_summary_columns(path, others="annotations"))
    assert found.summary == "Room moves"
    assert found.others == ("new room", "another room")


def test_chinese_columns_are_found(tmp_path):
    text = "会议室正在粉刷,本周的例会改到六楼大厅举行,请相互转告,不要走错地方。"
    rows = [[f"{text}{n}", f"例会改期{n}"] for n in range(30)]
    columns = find_summary_columns(table(tmp_path / "t.csv", ["正文", "标题"], rows))
    assert (columns.text, columns.summary) == ("正文", "标题")


def test_wrong_names_and_rows_are_refused(tmp_path):
    path = table(tmp_path / "t.csv", ["text", "summary"], [[LONG.format(n), f"Meeting {n}"] for n in range(5)])
    with pytest.raises(LabelledError, match="no column 'subject'; it has text, summary"):
        find_summary_columns(path, summary="subject")
    lines = tmp_path / "t.jsonl"
    lines.write_text(json.dumps({"text": LONG.format(1), "summary": "a b"}) + "\n" + json.dumps({"text": "x"}) + "\n")
    with pytest.raises(LabelledError, match=r"line 2 has no column 'summary'"):
        list(read_summaries(lines, find_summary_columns(lines)))
