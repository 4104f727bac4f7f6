"""From a table to a recipe: what it is taken for, what is held out, and why each choice was made."""

import json
import random

import pytest

from clearformer.data.readers.labelled import LabelledError, LabelledText, read_rows
from clearformer.run.recipe import parse_recipe
from clearformer.tasks.automatic.labelled_tables import AUTOMATIC, from_rows


def write_table(path, rows=200, label="stars", text="words"):
    draw = random.Random(1)
    lines = [f"{label},{text}"]
    for number in range(rows):
        words = " ".join(draw.choices(["the", "film", "was", "a", "story", "with", "music", "and", "actors"], k=8))
        lines.append(f"{('bad', 'good')[number % 2]},{words} {number}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_it_says_what_it_takes_a_table_for(tmp_path):
    path = write_table(tmp_path / "reviews.csv")
    assert AUTOMATIC.recognise([path]) == "texts with labels: text in column words, label in column stars"
    assert AUTOMATIC.name([path]) == "reviews"
    assert AUTOMATIC.recognise([tmp_path]) is None
    assert AUTOMATIC.recognise([path, path]) is None
    (tmp_path / "book.txt").write_text("some text\n")
    assert AUTOMATIC.recognise([tmp_path / "book.txt"]) is None


def test_nothing_is_lost_and_no_text_is_in_two_parts(tmp_path):
    path = write_table(tmp_path / "reviews.csv")
    path.write_text(path.read_text() + path.read_text().split("\n", 1)[1])  # every text twice
    chosen = AUTOMATIC.choose([path], tmp_path / "run")
    parts = {
        name: [
            (row.fields["text"], row.fields["label"]) for row in read_rows(tmp_path / "run" / "data" / f"{name}.jsonl")
        ]
        for name in ("train", "dev", "test")
    }
    assert sum(map(len, parts.values())) == 400
    texts = {name: {text for text, _ in rows} for name, rows in parts.items()}
    assert not texts["train"] & texts["dev"]
    assert not (texts["train"] | texts["dev"]) & texts["test"]
    for rows in parts.values():
        assert sum(label == "good" for _, label in rows) * 2 == len(rows)
    assert AUTOMATIC.example(tmp_path / "run") in texts["test"]
    assert "more than once" in chosen.report


def test_the_recipe_is_one_that_can_be_read(tmp_path):
    chosen = AUTOMATIC.choose([write_table(tmp_path / "reviews.csv")], tmp_path / "run")
    recipe = parse_recipe(chosen.recipe, "chosen")
    assert recipe.task == "text-classification"
    assert recipe.data.second is None
    assert {choice.what for choice in chosen.choices} >= {"held out", "classes", "vocabulary", "model", "steps"}
    assert all(choice.reason for choice in chosen.choices)


def rows(count, text="a film like any other", rare=2):
    return [LabelledText(f"{text} {n}", None, "rare" if n % 100 < rare else "usual", n) for n in range(count)]


def test_rare_classes_count_for_more():
    assert from_rows(rows(500), name="x", pairs=False)[0]["objective"]["balance"] > 0
    assert from_rows(rows(500, rare=50), name="x", pairs=False)[0]["objective"]["balance"] == 0


def test_more_texts_make_a_larger_model():
    sizes = [from_rows(rows(count), name="x", pairs=False)[0]["model"]["dim"] for count in (500, 10_000, 40_000)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


def test_chinese_is_read_by_characters():
    recipe, choices = from_rows(rows(500, text="这部电影非常好看"), name="x", pairs=False)
    assert recipe["data"]["vocabulary"]["kind"] == "character"
    assert "not spaced" in next(choice.reason for choice in choices if choice.what == "vocabulary")


def test_too_few_texts_are_refused(tmp_path):
    with pytest.raises(LabelledError, match="has 10 texts, but at least 20 are needed"):
        AUTOMATIC.choose([write_table(tmp_path / "a.csv", rows=10)], tmp_path / "run")


def test_the_same_few_texts_again_and_again_are_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\n" + "one,x\ntwo,y\n" * 20)
    with pytest.raises(LabelledError, match="has only 2 different texts"):
        AUTOMATIC.choose([path], tmp_path / "run")


def test_an_example_of_a_pair_has_both_texts(tmp_path):
    (tmp_path / "data").mkdir()
    rows = [{"text": "how old", "second": "what age", "label": "x"}, {"text": "why", "second": "why not", "label": "y"}]
    (tmp_path / "data" / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert AUTOMATIC.example(tmp_path) == "why ||| why not"


def test_the_doctor_looks_at_the_same_rows(tmp_path):
    path = write_table(tmp_path / "reviews.csv")
    path.write_text(path.read_text() + "godo,something else\n")
    assert json.loads(AUTOMATIC.examine([path]).to_json())["counts"]["a label that may be misspelt"] == 1
