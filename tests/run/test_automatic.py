"""The tasks are asked what they make of somebody's data; the one that knows it chooses, and the whole way is gone."""

import numpy as np
import pytest
from PIL import Image

import clearformer as cf
from clearformer.cli.main import main
from clearformer.run.automatic import choose, examine, recognise
from clearformer.run.recipe import read_recipe
from flows import numbers, tiny_tasks
from flows.tiny_tasks import SHAPES, draw, prose

SHORT = ["training.steps=3", "training.validate_every=3", "training.save_every=3", "model.dim=32", "model.layers=1"]


def text(folder):
    (folder / "book.txt").write_text(prose(600), encoding="utf-8")
    return [folder / "book.txt"]


def pictures(folder):
    generator = np.random.default_rng(1)
    for digit in SHAPES:
        (folder / "digits" / str(digit)).mkdir(parents=True)
        for number in range(12):
            Image.fromarray(draw(digit, generator)).save(folder / "digits" / str(digit) / f"{number}.png")
    return [folder / "digits"]


def parallel(folder):
    numbers.write_corpus(folder)
    return [folder / "train.words", folder / "train.figures"]


def table(folder):
    tiny_tasks.write_reviews(folder)
    return [folder / "reviews.tsv"]


KINDS = {
    "text-classification": (table, "texts with labels", ["model.attention.heads=1", "model.hidden_dim=32"]),
    "language-model": (text, "running text", ["model.attention.heads=1", "model.hidden_dim=32", "use.max_new=4"]),
    "picture-classification": (pictures, "pictures in 3 classes", ["model.attention.heads=1", "training.replicas=1"]),
    "translation": (parallel, "parallel text", ["model.decoder_layers=1", "use.beam=1", "scoring.examples=3"]),
}


def given(files):
    """As the command line takes it."""
    if len(files) == 1:
        return ["--data", str(files[0])]
    return ["--source", str(files[0]), "--target", str(files[1])]


@pytest.mark.parametrize("task", KINDS)
def test_data_is_taken_for_what_it_is(task, tmp_path):
    make, words, _ = KINDS[task]
    files = make(tmp_path)
    found = recognise(files)
    assert found.task.name == task
    assert words in found.words
    assert recognise(files, task).task.name == task
    assert not examine(files).fatal
    chosen = choose(files, tmp_path / "run")
    assert read_recipe(tmp_path / "run" / "recipe.toml").task == task == chosen.recipe["task"]


@pytest.mark.slow
@pytest.mark.parametrize("task", KINDS)
def test_the_command_line_trains_scores_and_says_how_to_use_it(task, tmp_path, capsys):
    make, words, small = KINDS[task]
    files = make(tmp_path)
    out = tmp_path / "run"
    assert main(["train", *given(files), "--out", str(out), *SHORT, *small]) == 0
    printed = capsys.readouterr()
    assert printed.out.rstrip().endswith(str(out / "model"))
    assert f"taken for {words}" in printed.err
    assert "try it: clearformer" in printed.err
    wanted = {"language-model": "nats", "translation": "bleu"}.get(task, "accuracy")
    assert wanted in printed.out.lower()
    assert cf.load(out).bundle.task == task
    assert main(["train", "--resume", "--out", str(out)]) == 0


@pytest.mark.parametrize("task", KINDS)
def test_the_doctor_looks_at_each(task, tmp_path, capsys):
    files = KINDS[task][0](tmp_path)
    assert main(["doctor", *map(str, files)]) == 0
    assert capsys.readouterr().out.strip()


def test_a_damaged_picture_ends_the_doctor_with_one(tmp_path, capsys):
    [folder] = pictures(tmp_path)
    (folder / "0" / "broken.png").write_bytes(b"no picture")
    assert main(["doctor", str(folder)]) == 1
    assert "broken.png" in capsys.readouterr().out


def test_what_nobody_knows_is_refused_with_what_there_is(tmp_path):
    (tmp_path / "x.bin").write_bytes(b"\0")
    with pytest.raises(ValueError, match=r"x\.bin cannot be read as data that can be trained on \(tried: transl"):
        recognise([tmp_path / "x.bin"])
    with pytest.raises(ValueError, match=r"cannot be read as data for picture-classification"):
        recognise(text(tmp_path), "picture-classification")
    with pytest.raises(ValueError, match=r"gone\.txt does not exist; check the name"):
        recognise([tmp_path / "gone.txt"])
    with pytest.raises(ValueError, match="there is no task 'nonsense'"):
        recognise(text(tmp_path), "nonsense")


def test_a_task_that_was_refused_leaves_nothing_behind(tmp_path, capsys):
    assert main(["train", "sample", "model.heads=3", "--out", str(tmp_path / "run")]) == 2
    assert "model.heads=3" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    assert main(["train", "sample", "training.schedule.warmup=5000", "--out", str(tmp_path / "run")]) == 2
    assert "warmup is 5000 steps, but the run has 1200" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
