"""A tagger that learns from other taggers: probabilities for every word, in parts of long sentences, too."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from clearformer.data.collate import UNTAGGED
from clearformer.data.readers.soft_labels import SoftSentence
from clearformer.folder.bundle import save
from clearformer.inference.reading_settings import ReadingConfig
from clearformer.inference.word_tagger import Tagger
from clearformer.run.distillation import distill
from clearformer.run.evaluation import evaluate
from clearformer.run.train import train
from clearformer.tasks import word_tags
from clearformer.tasks.tag_lessons import add_lessons
from clearformer.tasks.tagged_data import TaggedData
from clearformer.tasks.task import LessonPlan, Teachers
from clearformer.tasks.word_tags import TagObjective, encode_lesson
from run.assembled import assemble
from support.toy_readers import HEADS, TAGS, TOKENIZER, reader
from tasks.test_word_tags import recipe, write_conll


def plan(tmp_path, **changes):
    return LessonPlan(folder=tmp_path / "lessons", base=tmp_path, options=ReadingConfig(), **changes)


def teacher_at(folder):
    """A random tagger, whose labels stand in another order than those of training."""
    made = reader(head=HEADS["tags"], words="spaced")
    save(replace(made, preprocessing=replace(made.preprocessing, labels=TAGS[::-1])), folder)
    return folder


def small_file(tmp_path):
    sentences = [f"word{n}\tO\nAda\tB-X\nLovelace\tI-X\n\n" for n in range(5)]
    (tmp_path / "train.conll").write_text("".join(sentences))
    (tmp_path / "more.txt").write_text("Nobody tagged this.\n\n")
    return TaggedData(train="train.conll", dev="train.conll", unlabelled="more.txt")


def test_a_lesson_is_what_the_teacher_says_of_each_word(tmp_path):
    data, folder = small_file(tmp_path), teacher_at(tmp_path / "a")
    made = add_lessons(data, Teachers(together=[folder]), plan(tmp_path))
    first, *rows = map(json.loads, Path(made.lessons).read_text(encoding="utf-8").splitlines())
    assert first["labels"] == list(TAGS)
    assert rows[-1]["words"] == ["Nobody", "tagged", "this", "."]
    assert [row.get("tags") for row in rows] == [["O", "B-X", "I-X"]] * 5 + [None]
    teacher = Tagger(reader(head=HEADS["tags"], words="spaced"))
    for row in rows:
        [scores] = teacher.read_words([row["words"]], ReadingConfig())
        assert np.array(row["soft"]) == pytest.approx(np.exp(scores)[:, ::-1], abs=1e-5)


def test_a_teacher_of_other_tags_is_refused(tmp_path):
    data, folder = small_file(tmp_path), teacher_at(tmp_path / "a")
    text = (tmp_path / "train.conll").read_text()
    (tmp_path / "train.conll").write_text(text.replace("-X", "-Y"))
    with pytest.raises(ValueError, match="the teacher lacks the label 'B-Y'"):
        add_lessons(data, Teachers(together=[folder]), plan(tmp_path))
    save(reader(head=HEADS["class"]), tmp_path / "b")
    with pytest.raises(ValueError, match="the teacher does not tag words"):
        add_lessons(data, Teachers(together=[tmp_path / "b"]), plan(tmp_path))


def test_every_word_keeps_what_the_teacher_said_where_a_sentence_is_cut():
    """The parts of a long sentence have all its words, each with its own row."""
    words = tuple(f"word{n}" for n in range(30))
    soft = np.random.default_rng(1).dirichlet(np.ones(3), size=30)
    one = SoftSentence(words, None, soft)
    for data in (TaggedData(max_length=24), TaggedData(max_length=24, shapes=True)):
        rows = list(encode_lesson(TOKENIZER, one, TAGS, data))
        assert len(rows) > 1
        assert np.concatenate([row[3] for row in rows]).reshape(-1, 3) == pytest.approx(soft)
        tags = np.concatenate([row[1][row[1] != UNTAGGED] for row in rows])
        assert tags.tolist() == soft.argmax(axis=1).tolist()
        assert not any(row[4][0] for row in rows)


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    """A trained teacher, and a student's run that read three tagged sentences and 300 others."""
    folder = tmp_path_factory.mktemp("names")
    write_conll(folder / "large.conll", 300)
    write_conll(folder / "test.conll", 60, seed=2)
    write_conll(folder / "more.conll", 300, seed=3)
    teacher = train(recipe({"data.train": "large.conll"}), folder / "teacher", base=folder)
    write_conll(folder / "train.conll", 3, seed=4)
    chosen = recipe({"data.unlabelled": "more.conll", "data.dev": "test.conll"})
    distill(Teachers(together=[teacher]), chosen, folder / "student", base=folder)
    return folder


def test_a_student_learns_from_text_that_nobody_has_tagged(taught):
    assert evaluate(taught / "student" / "model", [taught / "test.conll"])["f1"] > 0.9


def test_a_batch_has_the_teacher_s_word_at_the_first_piece_of_each_word(taught):
    from clearformer.run.recipe import read_recipe

    made = assemble(read_recipe(taught / "student" / "recipe.toml"), taught / "student")
    rows = [made.prepared.train[index] for index in range(6)]
    batch = word_tags.collate(made.recipe.data, made.prepared.preprocessing)(rows, ())
    tagged = batch.tags != UNTAGGED
    assert torch.allclose(batch.soft[tagged].sum(-1), torch.ones(int(tagged.sum())), atol=1e-3)
    assert not batch.soft[~tagged].any()
    assert batch.given.tolist() == [True] * 3 + [False] * 3
    parts = batch.split(3)
    assert torch.equal(torch.cat([part.soft for part in parts]), batch.soft)
    # the loss of all rows is that of its parts
    model = made.made.model.eval()
    with torch.no_grad():
        whole, *shares = (float(word_tags.loss(model, part, TagObjective()).total) for part in (batch, *parts))
    assert whole == pytest.approx(sum(shares), rel=1e-5)
