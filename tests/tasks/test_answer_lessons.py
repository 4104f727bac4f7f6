"""A model that learns to answer from one that can: passages with probabilities, whatever the vocabularies."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

import clearformer as cf
from clearformer.data.readers.soft_answers import SoftSpan, TaughtQuestion, read_taught
from clearformer.data.readers.squad import AskedQuestion, GivenAnswer
from clearformer.folder.bundle import save
from clearformer.inference.reading_settings import AnswerConfig
from clearformer.run.distillation import distill
from clearformer.run.evaluation import evaluate
from clearformer.run.recipe import read_recipe
from clearformer.run.train import train
from clearformer.tasks import answers
from clearformer.tasks.answer_lessons import add_lessons
from clearformer.tasks.answers import SpanObjective
from clearformer.tasks.question_data import QuestionData
from clearformer.tasks.task import LessonPlan, Teachers
from run.assembled import assemble
from support.toy_readers import HEADS, TOKENIZER, reader
from tasks.test_answers import QUESTION, recipe, write

CONTEXT = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu"


def plan(folder, **changes):
    return LessonPlan(folder=folder / "lessons", base=folder, options=AnswerConfig(), **changes)


def forget_answers(path):
    """The same questions, as if nobody had answered them."""
    content = json.loads(path.read_text())
    for paragraph in content["data"][0]["paragraphs"]:
        for asked in paragraph["qas"]:
            del asked["answers"], asked["is_impossible"]
    path.write_text(json.dumps(content))


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    """A trained teacher, and a student's run that read ten answered questions and 500 that nobody answered."""
    folder = tmp_path_factory.mktemp("questions")
    write(folder / "large.json", 600, impossible=0.3)
    teacher = train(recipe(data__train="large.json"), folder / "teacher", base=folder)
    write(folder / "train.json", 10, seed=2)
    write(folder / "more.json", 500, seed=3, impossible=0.3)
    write(folder / "test.json", 100, seed=4, impossible=0.3)
    forget_answers(folder / "more.json")
    small = {"data__vocabulary": {"kind": "wordpiece", "vocab_size": 110}, "data__max_length": 40, "model__max_len": 40}
    chosen = recipe(data__unlabelled="more.json", data__dev="large.json", **small)
    distill(Teachers(together=[teacher]), chosen, folder / "student", base=folder)
    return folder


def test_a_student_learns_from_questions_that_nobody_has_answered(taught):
    """Ten questions are not enough to learn which words are treasure; the teacher's word on 500 others is. The student
    reads smaller pieces of words than the teacher.
    """
    found = evaluate(taught / "student" / "model", [taught / "test.json"])
    assert found["exact"] > 0.9
    assert cf.load(taught / "student").answer(QUESTION, "the a is on very and").text == ""


def test_a_lesson_is_what_the_teacher_says_of_its_likeliest_passages(taught):
    rows = list(read_taught(taught / "student" / "lessons" / "lessons.jsonl"))
    assert [row.given for row in rows[:10]] == [True] * 10
    assert not rows[-1].given
    teacher = cf.load(taught / "teacher")
    for row in rows[-20:]:
        best = teacher.answer(row.asked.question, row.asked.context)
        if best.text:
            assert (row.soft[0].start, row.soft[0].end) == (best.start, best.end)
        assert sum(one.probability for one in row.soft) < 1.0001  # the rest is "no answer"
        told = row.soft[0].probability if best.text else 1 - sum(one.probability for one in row.soft)
        assert told == pytest.approx(best.probability, abs=0.02)


def test_alone_forgets_what_people_answered_and_another_kind_of_teacher_is_refused(taught, tmp_path):
    write(tmp_path / "train.json", 20)
    given, teachers = QuestionData(train="train.json", max_length=20), Teachers(together=[taught / "teacher"])
    data = add_lessons(given, teachers, plan(tmp_path, alone=True))
    assert not any(row.given for row in read_taught(Path(data.lessons)))
    save(reader(head=HEADS["class"]), tmp_path / "other")
    with pytest.raises(ValueError, match="the teacher does not answer questions"):
        add_lessons(data, Teachers(together=[tmp_path / "other"]), plan(tmp_path))


def test_every_window_has_the_whole_probability():
    """A passage belongs to the windows that have it; elsewhere, and for no answer, the first token has its share."""
    asked = AskedQuestion("q", "what", CONTEXT, ())
    spans = tuple(
        SoftSpan(start := CONTEXT.index(word), start + len(word), share) for word, share in (("beta", 0.5), ("mu", 0.3))
    )
    rows = list(answers.encode(TOKENIZER, [TaughtQuestion(asked, False, spans)], QuestionData(max_length=20)))
    assert len(rows) > 1
    seen = set()
    for ids, _, ends, soft, given in rows:
        shares = soft.reshape(-1, 2)
        assert len(shares) == len(ids)
        assert shares.sum(axis=0) == pytest.approx([1.0, 1.0])
        assert not given[0]
        found = {round(float(share), 3) for share in shares[1:, 0]} - {0.0}
        seen |= found
        assert math.isclose(shares[0, 0], 1 - sum(found), abs_tol=1e-6)
        assert (ends[1] > 0) == (0.5 in found)  # what the teacher would say is the answer where it is inside
    assert seen == {0.5, 0.3}


def test_a_teacher_that_finds_no_answer_likelier_is_taken_at_its_word():
    asked = AskedQuestion("q", "what", CONTEXT, ())
    unsure = TaughtQuestion(asked, False, (SoftSpan(0, 5, 0.4),))
    assert all(not row[2].any() for row in answers.encode(TOKENIZER, [unsure], QuestionData(max_length=40)))
    known = TaughtQuestion(asked._replace(answers=(GivenAnswer("alpha", 0),)), True, (SoftSpan(0, 5, 0.4),))
    assert any(row[2].any() for row in answers.encode(TOKENIZER, [known], QuestionData(max_length=40)))


def test_the_loss_is_shared_by_people_and_teacher(taught):
    made = assemble(read_recipe(taught / "student" / "recipe.toml"), taught / "student")
    rows = [made.prepared.train[index] for index in (0, 1, 2, 30, 31)]
    batch = answers.collate(made.recipe.data, made.prepared.preprocessing)(rows, ())
    assert batch.given.tolist() == [True] * 3 + [False] * 2
    assert torch.allclose(batch.soft.sum(1), torch.ones(5, 2), atol=1e-5)
    model = made.made.model.eval()
    with torch.no_grad():
        log_probs = model(batch.ids, keep=batch.keep, types=batch.types).log_softmax(1)
        each = {
            weight: float(answers.loss(model, batch, SpanObjective(teacher_weight=weight)).total)
            for weight in (0.0, 1.0)
        }
    row = torch.arange(5)
    people = -(log_probs[row, batch.starts, 0] + log_probs[row, batch.ends, 1]) / 2
    teacher = -(batch.soft * log_probs.masked_fill(batch.soft == 0, 0)).sum((1, 2)) / 2
    assert each[1.0] == pytest.approx(float(teacher.sum()), rel=1e-4)
    assert each[0.0] == pytest.approx(float(people[:3].sum() + teacher[3:].sum()), rel=1e-4)
    assert np.isfinite(each[0.0])
    with pytest.raises(ValueError, match=r"objective\.teacher_weight is a share between 0 and 1, not 2"):
        SpanObjective(teacher_weight=2)
