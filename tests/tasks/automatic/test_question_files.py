"""Somebody's questions: recognised, examined, split by text, and made into a recipe that trains."""

import json

import pytest

from clearformer.data.readers.squad import read_questions
from clearformer.run.automatic import choose, examine, recognise
from clearformer.run.recipe import read_recipe
from clearformer.tasks.automatic import question_files

PARTS = ("train", "dev", "test")


def write(path, texts=40, extra=()):
    paragraphs = [
        {
            "context": f"Box {number} has {number * 7} nuts.",
            "qas": [
                {
                    "id": f"q{number}",
                    "question": "How many nuts?",
                    "answers": [{"text": f"{number * 7} nuts", "answer_start": len(f"Box {number} has ")}],
                }
            ],
        }
        for number in range(texts)
    ]
    content = {"data": [{"title": "Boxes", "paragraphs": [*paragraphs, *extra]}]}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_the_layout_is_taken_for_questions(tmp_path):
    found = recognise([write(tmp_path / "nuts.json")])
    assert found.task.name == "question-answering"
    (tmp_path / "other.json").write_text("[1]")
    with pytest.raises(ValueError, match="cannot be read"):
        recognise([tmp_path / "other.json"])


@pytest.mark.parametrize("texts", [3, 5, 40])
def test_no_text_is_in_two_parts_and_none_is_lost(tmp_path, texts):
    path = write(tmp_path / "nuts.json", texts)
    chosen = choose([path], tmp_path / "run")
    parts = {name: list(read_questions(tmp_path / "run" / "data" / f"{name}.json")) for name in PARTS}
    assert all(parts.values())
    contexts = [{asked.context for asked in part} for part in parts.values()]
    assert sum(map(len, contexts)) == len(set.union(*contexts)) == texts
    assert sorted(asked for part in parts.values() for asked in part) == sorted(read_questions(path))
    recipe = read_recipe(tmp_path / "run" / "recipe.toml")
    assert recipe.task == "question-answering"
    assert {"held out", "vocabulary", "length", "model", "steps"} <= {choice.what for choice in chosen.choices}
    question, context = question_files.example(tmp_path / "run")
    assert (question, context) in {(asked.question, asked.context) for asked in parts["test"]}


def test_chinese_is_read_by_characters(tmp_path):
    context = "雪地里有两只狗在玩。"
    asked = {"id": "z", "question": "有几只狗？", "answers": [{"text": "两只", "answer_start": 4}]}
    paragraphs = [{"context": f"{context}第{number}天。", "qas": [asked]} for number in range(40)]
    (tmp_path / "zh.json").write_text(json.dumps({"data": [{"paragraphs": paragraphs}]}), encoding="utf-8")
    choose([tmp_path / "zh.json"], tmp_path / "run")
    assert read_recipe(tmp_path / "run" / "recipe.toml").data.vocabulary.kind == "character"


def test_what_is_wrong_is_told_and_left_out(tmp_path):
    misplaced = {"id": "bad", "question": "Where?", "answers": [{"text": "hole", "answer_start": 3}]}
    same = {"id": "again", "question": "how  many nuts?", "answers": [{"text": "0 nuts", "answer_start": 10}]}
    empty = {"id": "gap", "question": "What?", "answers": [], "is_impossible": True}
    extra = [
        {"context": "A hole.", "qas": [misplaced]},
        {"context": "Box 0 has 0 nuts.", "qas": [same, {**same, "id": "q1", "question": "Nuts?"}]},
        {"context": " ", "qas": [empty]},
    ]
    path = write(tmp_path / "nuts.json", extra=extra)
    report = examine([path])
    assert not report.fatal
    assert report.totals == {
        "an answer that is left out": 1,
        "an empty text": 1,
        "a question that is asked twice of a text": 1,
        "an id that stands more than once": 1,
    }
    text = report.to_text()
    for words in ("question bad", "but at 2", "question gap", "as question q0", "question q1"):
        assert words in text
    assert json.loads(report.to_json())["counts"] == report.totals
    choose([path], tmp_path / "run")
    kept = {asked.id for name in PARTS for asked in read_questions(tmp_path / f"run/data/{name}.json")}
    assert kept == {*(f"q{number}" for number in range(40)), "again"}


def test_too_few_texts_are_refused(tmp_path):
    path = write(tmp_path / "nuts.json", 2)
    assert examine([path]).fatal
    with pytest.raises(ValueError, match=r"nuts\.json: there are too few texts"):
        choose([path], tmp_path / "run")
