"""Distillation: the teacher's lines stand beside their sources, no block is written twice, and a student trains."""

from pathlib import Path

import pytest
import torch

from clearformer.folder.bundle import load
from clearformer.model.weights import weights_of
from clearformer.run import distillation
from clearformer.run.distillation import Teachers, distill, with_lessons, write_lessons
from clearformer.run.recipe import DataConfig

RECIPE = """
name = "toy"
[data]
train_source = "a.en"
train_target = "a.de"
dev_source = "a.en"
dev_target = "a.de"
[vocabulary]
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
[decoding]
beam = 1
[scoring]
sentences = 4
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(distillation, "BLOCK", 3)
    path = tmp_path / "a.en"
    path.write_text("".join(f"line {n}\n" for n in range(8)))
    return path


def shout(texts):
    return [text.upper() for text in texts]


def test_line_n_belongs_to_line_n(source, tmp_path):
    seen = []
    written = write_lessons(source, tmp_path / "lessons" / "0", shout, lambda done, total: seen.append((done, total)))
    assert written.read_text() == source.read_text().upper()
    assert seen == [(3, 8), (6, 8), (8, 8)]


def test_an_interruption_loses_no_block(source, tmp_path):
    asked = []

    def tired(texts):
        asked.append(len(texts))
        if len(asked) == 2:
            raise KeyboardInterrupt
        return shout(texts)

    folder = tmp_path / "lessons" / "0"
    with pytest.raises(KeyboardInterrupt):
        write_lessons(source, folder, tired)
    assert write_lessons(source, folder, tired).read_text() == source.read_text().upper()
    assert asked == [3, 3, 3, 2]  # the first block was not asked for again
    write_lessons(source, folder, tired)
    assert len(asked) == 4  # nor was anything, once all was there


def test_a_line_break_in_a_translation_does_not_shift_the_lines_behind_it(source, tmp_path):
    written = write_lessons(source, tmp_path / "0", lambda texts: [f"{text}\nand more" for text in texts])
    assert written.read_text().splitlines()[7] == "line 7 and more"


def test_the_teacher_is_heard_beside_the_original_or_alone():
    data = DataConfig(train_source="a.en", train_target="a.de", dev_source="b.en", dev_target="b.de")
    both = with_lessons(data, [(Path("/x/a.en"), Path("/run/target.txt"))], alone=False)
    assert both.train_source == ("a.en", "/x/a.en")
    assert both.train_target == ("a.de", "/run/target.txt")
    alone = with_lessons(data, [(Path("/x/a.en"), Path("/run/target.txt"))], alone=True)
    assert (alone.train_source, alone.train_target) == (("/x/a.en",), ("/run/target.txt",))
    assert alone.dev_target == "b.de"


def test_another_teacher_is_refused(tmp_path):
    from clearformer.inference.translation_settings import DecodingConfig

    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text(name)
    distillation._same_teachers(tmp_path / "lessons", [tmp_path / "one"], DecodingConfig(beam=2))
    distillation._same_teachers(tmp_path / "lessons", [tmp_path / "one"], DecodingConfig(beam=2))
    with pytest.raises(ValueError, match="another teacher's lessons"):
        distillation._same_teachers(tmp_path / "lessons", [tmp_path / "two"], DecodingConfig(beam=2))


def test_a_teacher_of_the_other_direction_is_refused_before_it_writes(tmp_path):
    from clearformer.run.recipe import find_recipe, read_recipe

    recipe = read_recipe(find_recipe("sample"), ["data.source_language=de", "data.target_language=en"])
    with pytest.raises(ValueError, match="translates en to de, but lessons from de to en are wanted here"):
        distill(Teachers(together=["en-de"]), recipe, tmp_path / "no", base=find_recipe("sample").parent)
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
