"""Distillation: a student learns from what its teachers write, from one recipe to its own folder."""

from pathlib import Path

import pytest
import torch

from clearformer.folder.bundle import load
from clearformer.model.weights import weights_of
from clearformer.run.distillation import distill
from clearformer.tasks.task import Teachers

RECIPE = """
task = "translation"
name = "toy"
[data]
train_source = "a.en"
train_target = "a.de"
dev_source = "a.en"
dev_target = "a.de"
[data.vocabulary]
kind = "bpe"
vocab_size = 300
[model]
preset = "tiny"
dim = 32
hidden_dim = 32
layers = 2
[training]
steps = 4
validate_every = 4
batch_tokens = 512
schedule = { kind = "constant", peak = 1e-6, warmup = 1 }
[use]
beam = 1
[scoring]
examples = 4
"""


def test_a_teacher_of_the_other_direction_is_refused_before_it_writes(tmp_path):
    from clearformer.run.recipe import find_recipe, read_recipe

    recipe = read_recipe(find_recipe("sample"), ["data.source_language=de", "data.target_language=en"])
    with pytest.raises(ValueError, match="translates en to de, but lessons from de to en are wanted here"):
        distill(Teachers(together=["en-de"]), recipe, tmp_path / "no", base=find_recipe("sample").parent)
    assert not (tmp_path / "no").exists()


def test_a_task_without_lessons_cannot_be_distilled(tmp_path):
    from clearformer.run.recipe import find_recipe, read_recipe

    recipe = read_recipe(find_recipe("mnist"))
    with pytest.raises(ValueError, match="there are no lessons for picture-classification yet"):
        distill(Teachers(together=["en-de"]), recipe, tmp_path / "no")
    assert not (tmp_path / "no").exists()


def writer(name: str) -> str:
    """Who wrote a training file."""
    path = Path(name)
    return path.parts[-3] if path.name == "target.txt" else "nobody"


def colleague(recipe: Path, tmp_path: Path) -> Path:
    """A second teacher: the same vocabulary, other weights."""
    from clearformer.api import train

    return train(recipe, {"training.seed": 5}, out=tmp_path / "colleague")


def test_a_student_learns_from_a_teacher(tmp_path):
    """The whole way on a toy: a teacher of a few steps, its lessons, a student with half its layers."""
    from clearformer.api import train
    from clearformer.run.recipe import read_recipe

    words = ["red", "blue", "green", "black", "white"]
    lines = [f"{a} {b} {c}" for a in words for b in words for c in words]
    (tmp_path / "a.en").write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "a.de").write_text("".join(f"{' '.join(reversed(line.split()))}\n" for line in lines))
    recipe = tmp_path / "r.toml"
    recipe.write_text(RECIPE)
    teacher = train(recipe, out=tmp_path / "teacher")
    smaller = read_recipe(recipe, ["model.layers=1"])
    student = distill(Teachers(together=[teacher]), smaller, tmp_path / "student", base=tmp_path)
    assert (student / "model.safetensors").stat().st_size < (teacher / "model.safetensors").stat().st_size
    assert (
        len((tmp_path / "student" / "lessons" / "teacher" / "0" / "target.txt").read_text().split("\n"))
        == len(lines) + 1
    )
    # and one that begins with what the teacher knows: before its first step it has the teacher's numbers
    begun = distill(
        Teachers(together=[teacher]),
        read_recipe(recipe, ["model.decoder_layers=1", "training.steps=1", "training.schedule.peak=1e-30"]),
        tmp_path / "begun",
        base=tmp_path,
        take_layers=True,
    )
    ours, theirs = (weights_of(load(folder).model) for folder in (begun, teacher))
    assert {name for name in theirs if name not in ours} == {name for name in theirs if "decoder.layers.1" in name}
    assert all(torch.equal(weight, theirs[name]) for name, weight in ours.items())
    # two teachers write together; the lessons say who wrote them
    both = tmp_path / "both"
    other = colleague(recipe, tmp_path)
    distill(Teachers(together=[teacher, other]), smaller, both, base=tmp_path)
    assert "+" in (both / "lessons" / "teacher" / "teacher.json").read_text()
    # several write, each alone, one of them the other way round: four ways to say each sentence
    several = Teachers(together=[teacher], also=[other], back=[teacher])
    distill(several, smaller, tmp_path / "several", base=tmp_path)
    learned = read_recipe(tmp_path / "several" / "recipe.toml").data
    assert [writer(name) for name in learned.train_source] == ["nobody", "nobody", "nobody", "back-1"]
    assert [writer(name) for name in learned.train_target] == ["nobody", "teacher", "also-1", "nobody"]
    deeper = read_recipe(recipe, ["model.decoder_layers=3"])
    with pytest.raises(ValueError, match=r"model\.decoder_layers is 3, but the teacher has 2"):
        distill(Teachers(together=[teacher]), deeper, tmp_path / "no", base=tmp_path, take_layers=True)
    assert not (tmp_path / "no").exists()
