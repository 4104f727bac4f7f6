"""The tasks are asked what they make of somebody's data; the one that knows it chooses, and the whole way is gone."""

import shutil

import numpy as np
import pytest
from PIL import Image

import clearformer as cf
from clearformer.cli.main import main
from clearformer.folder.fetched import place_of
from clearformer.run.automatic import announced, choose, examine, recognise
from clearformer.run.recipe import read_recipe
from clearformer.run.train import train
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


def test_what_is_announced_is_what_the_run_follows(tmp_path):
    """Choices that the command line or the clock overrules are not announced beside what takes their place."""
    chosen = choose(parallel(tmp_path), tmp_path / "run")
    assert announced(chosen.choices, [], None) == chosen.choices
    rows = {one.what: one for one in announced(chosen.choices, ["training.steps=6", "model.dim=16"], None)}
    assert not {"steps", "model"} & set(rows)
    assert "vocabulary" in rows
    timed = announced(chosen.choices, ["training.steps=6", "data.vocabulary.vocab_size=300"], 0.5)
    rows = {one.what: one.value for one in timed}
    assert rows["steps"] == "as many as 0.5 minutes allow"
    assert "vocabulary" not in rows
    assert rows["changed"] == "data.vocabulary.vocab_size=300"
    assert not any("steps=6" in one.value for one in timed)
    assert "steps" not in rows["learning rate"].replace("of the steps", "")  # a share stays true for any number


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


def english_table(folder):
    """Enough English for its language to be told."""
    rows = [f"the film number {number} was {'good' if number % 2 else 'bad'} for all of us" for number in range(60)]
    lines = "".join(f"{row},{'up' if number % 2 else 'down'}\n" for number, row in enumerate(rows))
    (folder / "films.csv").write_text("text,label\n" + lines, encoding="utf-8")
    return [folder / "films.csv"]


def test_english_begins_with_a_published_encoder_where_it_was_fetched(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEARFORMER_CACHE", str(tmp_path / "cache"))
    files = english_table(tmp_path)
    without = choose(files, tmp_path / "without")
    assert "from" not in without.recipe["model"]
    assert any("clearformer models get minilm" in one.reason for one in without.choices)
    recipe = read_recipe(tiny_tasks.TINY["text-classification"](tmp_path), ["training.steps=2"])
    fetched = place_of("minilm")
    assert fetched is not None
    shutil.copytree(train(recipe, tmp_path / "made", base=tmp_path), fetched)
    begun = choose(files, tmp_path / "begun")
    assert begun.recipe["model"]["from"] == str(fetched)
    assert any("--start scratch" in one.reason for one in begun.choices)
    assert choose(files, tmp_path / "scratch", start="scratch").recipe == without.recipe


@pytest.mark.parametrize("task", [None, "summarization", "text-classification", "conversation"])
@pytest.mark.parametrize("header", ["text,label", "text,summary", "mail,gist"])
def test_a_table_of_headings_alone_has_no_rows_whatever_it_is_meant_for(tmp_path, header, task):
    (tmp_path / "a.csv").write_text(f"{header}\n")
    with pytest.raises(ValueError, match=r"a\.csv has no rows below its first line; add some"):
        recognise([tmp_path / "a.csv"], task)
    (tmp_path / "b.jsonl").write_text("\n")
    with pytest.raises(ValueError, match=r"b\.jsonl is empty; give a file"):
        recognise([tmp_path / "b.jsonl"], task)
