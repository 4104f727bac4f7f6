"""A classifier that learns from other classifiers: what they write, what it learns, and that it can be interrupted."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import clearformer as cf
from clearformer.folder.bundle import save
from clearformer.inference.reading_settings import ReadingConfig
from clearformer.run.distillation import distill
from clearformer.run.evaluation import evaluate
from clearformer.run.train import Interrupted, train
from clearformer.tasks.label_lessons import add_lessons
from clearformer.tasks.labelled_data import LabelledData
from clearformer.tasks.task import LessonPlan, Teachers
from support.stopping import StopsAt
from support.toy_readers import HEADS, reader
from tasks.test_text_classes import recipe, write_table

LABELS = ("good", "bad", "neither")


def teacher_at(folder, seed=0, **outcome):
    """A random classifier of good, bad and neither."""
    made = reader(head=HEADS["class of the mean"])
    torch.manual_seed(seed)
    made.model.head.classify.weight.data.normal_(0, 0.5)
    told = replace(made.preprocessing, outcome=replace(made.preprocessing.outcome, **outcome))
    save(replace(made, preprocessing=told), folder)
    return folder


def plan(tmp_path, **changes):
    return LessonPlan(folder=tmp_path / "lessons", base=tmp_path, options=ReadingConfig(), **changes)


def small_table(tmp_path, rows=12):
    lines = [f"{LABELS[n % 3]}\tthe text of number {n}" for n in range(rows)]
    (tmp_path / "train.tsv").write_text("\n".join(["label\ttext", *lines]) + "\n")
    (tmp_path / "more.txt").write_text("a text without a label\n\nand another one\n")
    return LabelledData(train="train.tsv", dev="train.tsv")


def written(data):
    first, *rows = map(json.loads, Path(data.lessons).read_text(encoding="utf-8").splitlines())
    return first["labels"], rows


def test_a_lesson_is_the_mean_of_what_the_teachers_say(tmp_path):
    data = replace(small_table(tmp_path), unlabelled="more.txt")
    folders = [teacher_at(tmp_path / name, seed) for seed, name in enumerate("ab")]
    labels, rows = written(add_lessons(data, Teachers(together=folders), plan(tmp_path)))
    assert [row.get("label") for row in rows] == [LABELS[n % 3] for n in range(12)] + [None, None]
    assert rows[-1]["text"] == "and another one"
    for row in rows:
        each = [cf.load(folder).classify(row["text"])[0].scores for folder in folders]
        assert row["soft"] == pytest.approx([np.mean([one[label] for one in each]) for label in labels], abs=1e-5)


def test_alone_leaves_out_what_people_said(tmp_path):
    data = small_table(tmp_path)
    folder = teacher_at(tmp_path / "a")
    _, rows = written(add_lessons(data, Teachers(together=[folder]), plan(tmp_path, alone=True)))
    assert len(rows) == 12
    assert not any("label" in row for row in rows)


def test_lessons_are_written_once_and_belong_to_one_teacher_and_one_table(tmp_path):
    data, first = small_table(tmp_path), teacher_at(tmp_path / "a")
    seen = []
    watched = plan(tmp_path, on_progress=lambda done, total: seen.append((done, total)))
    once = add_lessons(data, Teachers(together=[first]), watched)
    assert add_lessons(data, Teachers(together=[first]), watched) == once
    assert seen == [(12, 12)]
    other = teacher_at(tmp_path / "b", seed=1)
    with pytest.raises(ValueError, match="holds another teacher's lessons, or about other data; choose another --out"):
        add_lessons(data, Teachers(together=[other]), plan(tmp_path))
    small_table(tmp_path, rows=15)
    with pytest.raises(ValueError, match="about other data"):
        add_lessons(data, Teachers(together=[first]), plan(tmp_path))


def test_a_teacher_of_something_else_is_refused_before_it_writes(tmp_path):
    data, folder = small_table(tmp_path), teacher_at(tmp_path / "a", kind="several")
    with pytest.raises(ValueError, match=r"does not give what data\.kind = 'one' says"):
        add_lessons(data, Teachers(together=[folder]), plan(tmp_path))
    text = (tmp_path / "train.tsv").read_text()
    (tmp_path / "train.tsv").write_text(text.replace("neither", "odd"))
    with pytest.raises(ValueError, match="the teacher lacks the label 'odd'"):
        add_lessons(data, Teachers(together=[teacher_at(tmp_path / "b")]), plan(tmp_path))
    with pytest.raises(ValueError, match="--back is for teachers that write"):
        add_lessons(data, Teachers(together=[folder], back=[folder]), plan(tmp_path))
    assert not (tmp_path / "lessons").exists()


def test_pairs_without_labels_come_from_a_table(tmp_path):
    lines = [f"{LABELS[n % 3]}\tone {n}\ttwo {n}" for n in range(9)]
    (tmp_path / "train.tsv").write_text("\n".join(["label\ttext\tsecond", *lines]) + "\n")
    (tmp_path / "more.tsv").write_text("text\tsecond\nthis\tthat\n")
    data = LabelledData(train="train.tsv", dev="train.tsv", unlabelled="more.tsv")
    _, rows = written(add_lessons(data, Teachers(together=[teacher_at(tmp_path / "a")]), plan(tmp_path)))
    assert (rows[-1]["text"], rows[-1]["second"]) == ("this", "that")
    (tmp_path / "more.txt").write_text("a line\n")
    with pytest.raises(ValueError, match=r"more\.txt is no table, but a class belongs to a pair"):
        add_lessons(replace(data, unlabelled="more.txt"), Teachers(together=[tmp_path / "a"]), plan(tmp_path))


@pytest.fixture(scope="module")
def film_teacher(tmp_path_factory):
    """A trained teacher beside its table, a small one with four texts, and many texts without labels."""
    folder = tmp_path_factory.mktemp("films")
    write_table(folder / "train.tsv", 400)
    write_table(folder / "test.tsv", 100, seed=2)
    write_table(folder / "many.tsv", 400, seed=3)
    rows = (folder / "many.tsv").read_text().splitlines()[1:]
    (folder / "more.txt").write_text("".join(row.split("\t")[1] + "\n" for row in rows))
    train(recipe(), folder / "teacher", base=folder)
    (folder / "large.tsv").write_text((folder / "train.tsv").read_text())
    lines = (folder / "train.tsv").read_text().splitlines()
    (folder / "train.tsv").write_text("\n".join(lines[:9]) + "\n")
    return folder


def test_a_student_learns_from_texts_that_nobody_has_labelled(film_teacher, tmp_path):
    """Of eight labelled texts nothing can be learned; a teacher's word on 400 others is enough."""
    chosen = recipe({"data.unlabelled": "more.txt", "data.dev": "large.tsv"})
    teachers = Teachers(together=[film_teacher / "teacher" / "model"])
    model = distill(teachers, chosen, tmp_path / "student", base=film_teacher)
    assert evaluate(model, [film_teacher / "test.tsv"])["accuracy"] > 0.9


def test_a_student_that_is_stopped_and_resumed_ends_with_the_same_bits(film_teacher, tmp_path, monkeypatch):
    changes = {"data.unlabelled": "more.txt", "data.dev": "large.tsv", "data.word_dropout": 0.2, "training.steps": 30}
    teachers = Teachers(together=[film_teacher / "teacher" / "model"])
    whole = distill(teachers, recipe(changes), tmp_path / "whole", base=film_teacher)
    monkeypatch.setattr("clearformer.run.train.Stop", lambda: StopsAt(13))
    with pytest.raises(Interrupted):
        distill(teachers, recipe(changes), tmp_path / "parts", base=film_teacher)
    monkeypatch.undo()
    parts = distill(teachers, recipe(changes), tmp_path / "parts", base=film_teacher, resume=True)
    assert (whole / "model.safetensors").read_bytes() == (parts / "model.safetensors").read_bytes()
