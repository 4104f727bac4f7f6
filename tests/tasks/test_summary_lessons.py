"""A summarizer that learns from what others write: also for texts that have no summary, and never for held-out ones."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import clearformer as cf
from clearformer.folder import bundle
from clearformer.inference.summary_settings import SummaryConfig
from clearformer.run.distillation import distill
from clearformer.run.recipe import read_recipe
from clearformer.tasks.summary_data import SummaryData, split
from clearformer.tasks.summary_lessons import add_lessons
from clearformer.tasks.task import LessonPlan, Teachers
from flows.tiny_tasks import write_mails
from support.toy_models import small
from support.toy_readers import HEADS, reader

GIVEN = SummaryData(train="mails.jsonl", text="mail", summary="subject", unlabelled="more.txt")
OPTIONS = SummaryConfig(beam=1, max_tokens=6)


@pytest.fixture
def folder(tmp_path):
    write_mails(tmp_path)
    (tmp_path / "more.txt").write_text("two dogs play in the snow and the cat runs behind them all day long\n")
    for name, ending in (("teacher", 4.0), ("other", 3.0)):
        made = replace(small(), task="summarization")
        made.model.head.bias.data[made.preprocessing.tokenizer.eos_id] = ending
        bundle.save(made, tmp_path / name)
    return tmp_path


def plan(folder, **changes):
    return LessonPlan(folder=folder / "lessons", base=folder, options=OPTIONS, **changes)


def written(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def test_a_lesson_is_what_the_teacher_writes_of_each_text_that_is_not_held_out(folder):
    data = add_lessons(GIVEN, Teachers(together=[folder / "teacher"]), plan(folder))
    [path] = data.lessons
    rows, teacher = written(path), cf.load(folder / "teacher")
    train, held = split(GIVEN, folder)
    assert {row["text"] for row in rows} <= {pair.text for pair in train} | {(folder / "more.txt").read_text().strip()}
    assert rows[-1]["text"].startswith("two dogs play")
    assert not {row["text"] for row in rows} & {pair.text for pair in held}
    for row in rows[:: len(rows) // 5]:
        assert row["summary"] == teacher.summarize(row["text"], OPTIONS)[0].text
    assert not data.lessons_alone


def test_each_further_teacher_writes_its_own_and_several_together_one(folder):
    teachers = Teachers(together=[folder / "teacher", folder / "other"], also=[folder / "other"])
    first, second = add_lessons(GIVEN, teachers, plan(folder)).lessons
    other = cf.load(folder / "other")
    assert all(row["summary"] == other.summarize(row["text"], OPTIONS)[0].text for row in written(second)[:5])
    both = cf.load(folder / "teacher", folder / "other")
    assert all(row["summary"] == both.summarize(row["text"], OPTIONS)[0].text for row in written(first)[:5])


def test_who_cannot_teach_is_refused(folder):
    with pytest.raises(ValueError, match="--back is for translators"):
        add_lessons(GIVEN, Teachers(together=[folder / "teacher"], back=[folder / "other"]), plan(folder))
    bundle.save(reader(head=HEADS["class"]), folder / "classifier")
    with pytest.raises(ValueError, match="the teacher does not summarise texts"):
        add_lessons(GIVEN, Teachers(together=[folder / "classifier"]), plan(folder))


def test_a_student_is_trained_on_lessons_alone(folder):
    """Its vocabulary is that of the teacher's summaries and texts; what people wrote is not read."""
    recipe = (
        read_recipe(folder / "recipe.toml") if (folder / "recipe.toml").exists() else read_recipe(write_mails(folder))
    )
    recipe = replace(recipe, use=OPTIONS)
    teachers = Teachers(together=[folder / "teacher"])
    model = distill(teachers, recipe, folder / "student", base=folder, alone=True)
    found = cf.load(model).summarize((folder / "more.txt").read_text())
    assert len(found[0].text) <= len((folder / "more.txt").read_text())
    kept = read_recipe(folder / "student" / "recipe.toml").data
    assert kept.lessons_alone
    assert Path(kept.lessons[0]).name == "lessons.jsonl"
