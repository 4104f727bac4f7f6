"""Files of lessons: what is written is read again, the order of labels does not matter, and nonsense is refused."""

import json

import numpy as np
import pytest

from clearformer.data.readers.soft_labels import (
    SoftLabelError,
    header,
    read_soft_sentences,
    read_soft_texts,
    sentence_record,
    text_record,
)


def write(path, *records):
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), encoding="utf-8")
    return path


def test_texts_come_back_as_they_were_written(tmp_path):
    given = [
        ("好的\u2028电影", None, "good", [0.25, 0.75]),
        ("a", "b", None, [1.0, 0.0]),
        (" x ", None, "", [0.5, 0.5]),
    ]
    path = write(tmp_path / "l", header("one", ["bad", "good"]), *(text_record(*one) for one in given))
    found = [
        (one.text, one.second, one.label, one.soft.tolist()) for one in read_soft_texts(path, "one", ["bad", "good"])
    ]
    assert found == given


def test_probabilities_follow_their_labels(tmp_path):
    path = write(tmp_path / "l", header("one", ["b", "a"]), text_record("x", None, None, [0.2, 0.8]))
    [one] = read_soft_texts(path, "one", ["a", "b"])
    assert one.soft.tolist() == [0.8, 0.2]


def test_a_number_is_any_number(tmp_path):
    path = write(tmp_path / "l", header("number", []), text_record("x", None, "3.5", [-12.5]))
    [one] = read_soft_texts(path, "number", [])
    assert one.soft.tolist() == [-12.5]


def test_sentences_come_back_as_they_were_written(tmp_path):
    soft = np.array([[0.9, 0.1, 0.0], [0.0, 0.5, 0.5]])
    labels = ["O", "B-X", "I-X"]
    records = [sentence_record(["a", "b"], ["O", "B-X"], soft), sentence_record(["a", "b"], None, soft)]
    path = write(tmp_path / "l", header("tags", labels), *records)
    first, second = read_soft_sentences(path, ["O", "I-X", "B-X"])
    assert (first.words, first.tags, second.tags) == (("a", "b"), ("O", "B-X"), None)
    assert first.soft.tolist() == soft[:, [0, 2, 1]].tolist()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"text": "x", "soft": [0.5]}', "soft should have 2 numbers"),
        ('{"text": "x"}', "soft should have 2 numbers"),
        ('{"text": "x", "soft": [0.5, true]}', "soft should have 2 numbers"),
        ('{"text": "x", "soft": [NaN, 0.5]}', "soft should have 2 numbers"),
        ('{"text": "x", "soft": [1.5, -0.5]}', "are no probabilities"),
        ('{"text": "x", "soft": [0.5, 0.4]}', "add up to 0.900 instead of 1"),
        ('{"text": 3, "soft": [0.5, 0.5]}', "should be"),
        ('{"text": "x", "label": ["good"], "soft": [0.5, 0.5]}', "should be"),
        ("[1, 2]", "is no JSON object"),
        ("[" * 100_000, "is no JSON object"),
    ],
)
def test_a_line_that_is_no_lesson_is_refused_by_its_number(tmp_path, line, said):
    path = write(tmp_path / "l", header("one", ["bad", "good"]))
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(SoftLabelError, match=f"line 2.*{said}"):
        list(read_soft_texts(path, "one", ["bad", "good"]))


@pytest.mark.parametrize(
    "line",
    [
        '{"words": ["a", "b"], "soft": [[0.5, 0.5]]}',
        '{"words": [], "soft": []}',
        '{"words": ["a"], "tags": ["B-Y"], "soft": [[0.5, 0.5]]}',
        '{"words": ["a"], "tags": [["O"]], "soft": [[0.5, 0.5]]}',
        '{"words": [1], "soft": [[0.5, 0.5]]}',
        '{"words": ["a"], "soft": [0.5]}',
        '{"words": "a", "soft": [[0.5, 0.5]]}',
    ],
)
def test_a_sentence_that_is_none_is_refused_by_its_number(tmp_path, line):
    path = write(tmp_path / "l", header("tags", ["O", "B-X"]))
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(SoftLabelError, match="line 2"):
        list(read_soft_sentences(path, ["O", "B-X"]))


def test_lessons_about_other_labels_are_refused(tmp_path):
    path = write(tmp_path / "l", header("one", ["bad", "good"]))
    with pytest.raises(SoftLabelError, match="is about bad, good, and the data about bad, fine"):
        list(read_soft_texts(path, "one", ["bad", "fine"]))
    with pytest.raises(SoftLabelError, match="line 1 should say kind 'several'"):
        list(read_soft_texts(path, "several", ["bad", "good"]))
    (tmp_path / "empty").write_text("")
    with pytest.raises(SoftLabelError, match="line 1"):
        list(read_soft_texts(tmp_path / "empty", "one", []))
