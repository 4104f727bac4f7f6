"""From recordings to a recipe: parts that do not overlap, a vocabulary that fits, and a run that ends with a score."""

import csv
import json
import tomllib

import pytest

from clearformer.cli.main import main
from clearformer.foundation import settings
from clearformer.run import automatic
from clearformer.run.recipe import parse_recipe
from clearformer.tasks.automatic.recordings import AUTOMATIC, choose, example, recognise
from support.spoken import say, write_beside, write_table, write_wave


def read_part(run, part):
    with (run / "data" / f"{part}.tsv").open(encoding="utf-8", newline="") as file:
        return [(row["file"], row["text"]) for row in csv.DictReader(file, delimiter="\t")]


def test_no_recording_is_in_two_parts_and_none_is_lost(tmp_path):
    folder = write_beside(tmp_path / "talk", count=40)
    chosen = choose([folder], tmp_path / "run")
    parts = {part: read_part(tmp_path / "run", part) for part in ("train", "dev", "test")}
    files = [file for part in parts.values() for file, _ in part]
    assert len(files) == len(set(files)) == 40
    assert all(len(part) >= 2 for part in parts.values())
    recipe = parse_recipe(tomllib.loads(settings.to_toml(chosen.recipe)), "made")
    assert (recipe.task, recipe.data.sample_rate) == ("transcription", 8000)
    assert recipe.data.vocabulary.kind == "word"
    assert all(choice.value and choice.reason for choice in chosen.choices)
    assert example(tmp_path / "run") in [file for file, _ in parts["test"]]
    assert AUTOMATIC.name([folder]) == "talk"


def test_many_words_are_spelled(tmp_path):
    for number in range(24):
        write_wave(tmp_path / "t" / f"{number}.wav", say("do re mi", seed=number))
        (tmp_path / "t" / f"{number}.txt").write_text(f"Word{number} other{number}", encoding="utf-8")
    recipe = choose([tmp_path / "t"], tmp_path / "run").recipe
    assert recipe["data"]["vocabulary"]["kind"] == "character"


def test_what_is_recognised(tmp_path):
    assert recognise([write_beside(tmp_path / "a", count=2)]) == "recordings beside their transcripts"
    table = write_table(tmp_path / "b", count=2)
    assert recognise([table]) == "recordings in column file, their texts in column text"
    assert automatic.recognise([table]).task.name == "transcription"
    (tmp_path / "reviews.csv").write_text("text,label\n" + "good,1\nbad,0\n" * 9, encoding="utf-8")
    assert recognise([tmp_path / "reviews.csv"]) is None
    assert automatic.recognise([tmp_path / "reviews.csv"]).task.name == "text-classification"
    assert recognise([tmp_path / "b" / "wav"]) is None
    assert recognise([table, table]) is None


def test_too_little_is_refused_before_anything_is_made(tmp_path):
    with pytest.raises(ValueError, match="has 3 recordings with a transcript, but at least 20 are needed; add some"):
        choose([write_beside(tmp_path / "few", count=3)], tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_doctor_and_train_take_a_folder(tmp_path, capsys):
    folder = write_beside(tmp_path / "talk", count=24)
    assert main(["doctor", str(folder)]) == 0
    assert "24 recordings with transcripts" in capsys.readouterr().out
    small = ("training.steps=6", "training.save_every=6", "training.validate_every=6", "model.dim=32", "model.layers=1")
    run = ["train", "--data", str(folder), "--out", str(tmp_path / "run"), "training.schedule.warmup=2", *small]
    assert main(run) == 0
    told = capsys.readouterr()
    assert "wer" in told.out
    assert "taken for recordings beside their transcripts" in told.err
    assert json.loads((tmp_path / "run" / "model" / "config.json").read_text())["task"] == "transcription"
