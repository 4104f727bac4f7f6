"""`evaluate` for models that do not translate: their own scores, with intervals, on whatever files they are for."""

import gzip
import json
import math
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from clearformer.api import load
from clearformer.cli import task_scores
from clearformer.cli.main import main
from clearformer.data.readers.picture_sets import read_classes
from clearformer.model.config import HeadConfig
from cli.readers import reader
from cli.trained_models import draw_pictures, train_pictures, train_text
from interop.folders import bert_folder


@pytest.fixture(scope="module")
def pictures(tmp_path_factory) -> Path:
    return train_pictures(tmp_path_factory.mktemp("pictures"))


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> Path:
    return train_text(tmp_path_factory.mktemp("text"))


def scores(capsys, *words: str) -> dict[str, float]:
    capsys.readouterr()
    assert main(["evaluate", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def write_idx(path: Path, values: np.ndarray) -> Path:
    with gzip.open(path, "wb") as file:
        file.write(struct.pack(f">HBB{values.ndim}I", 0, 8, values.ndim, *values.shape) + values.tobytes())
    return path


def test_accuracy_on_a_folder_of_classes(pictures, tmp_path, capsys):
    """One picture of five lies in the wrong folder, and that is what the number says."""
    drawn = draw_pictures(tmp_path / "test", 5, seed=20)
    (drawn / "top" / "000.png").rename(drawn / "bottom" / "wrong.png")
    found = scores(capsys, "--model", str(pictures), "--data", str(drawn))
    assert found["accuracy"] == pytest.approx(0.9)
    assert found["accuracy_low"] < 0.9 < found["accuracy_high"] < 1
    assert found["examples"] == 10
    assert main(["evaluate", "--model", str(pictures), "--data", str(drawn)]) == 0
    assert "accuracy   90.00 %   (95 % between" in capsys.readouterr().out


def test_two_idx_files_are_a_test_set(tmp_path, capsys):
    """Digits as MNIST has them, here 0 for bright at the top; the order of the two files matters and is told."""
    names = {"top": "0", "bottom": "1"}
    base = tmp_path / "base"
    drawn = [(one.pixels[..., 0], names[one.label]) for one in read_classes(draw_pictures(base, 40, seed=1))]
    for name in names:
        (base / name).rename(base / names[name])
    model = train_pictures(tmp_path, drawn=base)
    images = write_idx(tmp_path / "images.gz", np.stack([pixels for pixels, _ in drawn]))
    labels = write_idx(tmp_path / "labels.gz", np.array([int(label) for _, label in drawn], dtype=np.uint8))
    found = scores(capsys, "--model", str(model), "--data", str(images), str(labels))
    assert found["accuracy"] == 1
    assert main(["evaluate", "--model", str(model), "--data", str(labels), str(images)]) == 1
    assert "in this order: exchange them?" in capsys.readouterr().err
    assert main(["evaluate", "--model", str(model), "--data", str(images)]) == 1
    assert "give a folder or archive of classes, or two idx files" in capsys.readouterr().err


def test_the_likelihood_of_a_text(text, tmp_path, capsys):
    (tmp_path / "unseen.txt").write_text("the dog sleeps in the house\nthe cat plays in the snow\n" * 5)
    found = scores(capsys, "--model", str(text), "--data", str(tmp_path / "unseen.txt"))
    for name in ("nats", "perplexity", "bits_per_byte"):
        assert found[f"{name}_low"] <= found[name] <= found[f"{name}_high"]
    assert found["perplexity"] == pytest.approx(math.exp(found["nats"]))
    generator = load(text)
    ids = generator.tokenizer.ids([(tmp_path / "unseen.txt").read_text()], add_special=False)[0]
    blocks = generator.likelihood([*generator.before_text(), *ids]).blocks
    assert found["nats"] == pytest.approx(sum(map(sum, blocks)) / sum(map(len, blocks)), rel=1e-4)
    assert found["tokens"] == len(ids)
    assert found["words"] == 5 * 14
    assert "context 16, stride 8" in found["signature"]


def test_with_and_without_a_memory_side_by_side(text, tmp_path, capsys):
    (tmp_path / "unseen.txt").write_text("Zwölf Boxkämpfer jagen Viktor\n" * 8)
    asked = ["--model", str(text), "--data", str(tmp_path / "unseen.txt")]
    plain = scores(capsys, *asked, "--context", "12", "--stride", "4")
    assert "context 12, stride 4" in plain["signature"]
    remembered = ["--context", "12", "--stride", "4", "--cache", "100", "--cache-share", "0.3", "--dynamic", "0.001"]
    found = scores(capsys, *asked, *remembered)
    assert {name: found[name] for name in plain} == plain
    for name in ("cache", "dynamic", "dynamic_cache"):
        assert found[f"{name}_nats"] < plain["nats"]  # the text says the same thing eight times
        assert found[f"{name}_perplexity_per_word_low"] <= found[f"{name}_perplexity_per_word"]
    assert found["cache_signature"] == "the last 100 states, theta 20, share 0.3"
    assert main(["evaluate", *asked, *remembered]) == 0
    printed = capsys.readouterr().out
    assert "\nnats per token" in f"\n{printed}"
    assert "\ncache nats per token" in printed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cache", "-1"], "--cache must be at least 0, not -1"),
        (["--cache-share", "2"], "--cache-share must be at most 0.999, not 2"),
        (["--stride", "17"], "a stride must be at least 1 and no more than the context of 16, not 17"),
    ],
)
def test_a_memory_that_cannot_be_is_told_in_a_sentence(text, tmp_path, capsys, options, message):
    (tmp_path / "unseen.txt").write_text("the dog\n")
    assert main(["evaluate", "--model", str(text), "--data", str(tmp_path / "unseen.txt"), *options]) in (1, 2)
    assert message in capsys.readouterr().err


def test_a_memory_is_for_language_models(pictures, capsys):
    assert main(["evaluate", "--model", str(pictures), "--data", "x", "--cache", "10"]) == 2
    assert "--cache is for language models" in capsys.readouterr().err


def test_what_a_model_has_learned_is_likelier_than_what_it_has_not(text, tmp_path, capsys):
    (tmp_path / "known.txt").write_text("the dog plays in the snow\n" * 8)
    (tmp_path / "strange.txt").write_text("Zwölf Boxkämpfer jagen Viktor\n" * 8)
    known, strange = (
        scores(capsys, "--model", str(text), "--data", str(tmp_path / name)) for name in ("known.txt", "strange.txt")
    )
    assert known["nats_high"] < strange["nats_low"]


def test_a_corpus_without_a_test_part_is_told_in_a_sentence(text, capsys):
    assert main(["evaluate", "--model", str(text), "--data", "tiny-shakespeare"]) == 1
    told = capsys.readouterr().err
    assert "tiny-shakespeare has no test part; give a file of text or pictures that the model has not seen" in told
    assert main(["evaluate", "--model", str(text), "--data", "multi30k"]) == 1
    assert "multi30k has a test part in each of several languages; give the file" in capsys.readouterr().err


def test_what_is_no_test_set_is_refused_by_name(pictures, text, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    draw_pictures(tmp_path / "other", 1, seed=3)
    (tmp_path / "other" / "top").rename(tmp_path / "other" / "above")
    for model, data, code, told in (
        (text, ["no.txt"], 1, "no.txt is no file, no folder and no known corpus"),
        (text, [str(tmp_path), "no.txt"], 1, "no.txt does not exist; check the name"),
        (text, [], 2, "name a test set with --data"),
        (pictures, [str(tmp_path / "empty")], 1, "empty holds no pictures"),
        (pictures, [str(tmp_path / "other")], 1, "the class 'above', and the model knows bottom, top"),
    ):
        assert main(["evaluate", "--model", str(model), *(["--data", *data] if data else [])]) == code
        assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "shown"),
    [
        (["--beam", "4"], "--beam"),
        (["--engine", "torch"], "--engine"),
        (["--source", "a", "--reference", "b"], "--source"),
        (["--tokenise", "none"], "--tokenise"),
    ],
)
def test_options_of_translators_are_refused(text, tmp_path, capsys, option, shown):
    (tmp_path / "a.txt").write_text("the dog\n")
    assert main(["evaluate", "--model", str(text), "--data", str(tmp_path / "a.txt"), *option]) == 2
    assert f"{shown} is for translators, and {text} is a model for language-model; leave it out" in (
        capsys.readouterr().err
    )


def test_a_reader_is_scored_by_the_engine_that_is_asked_for(tmp_path, capsys):
    model = reader(tmp_path, "class")
    (tmp_path / "a.csv").write_text("text,label\ntwo dogs,calm\nthe snow .,wild\ndogs play,odd\n")
    given = ("--model", model, "--data", str(tmp_path / "a.csv"))
    found = [scores(capsys, *given, "--engine", engine) for engine in ("torch", "ctranslate2")]
    assert found[0]["accuracy"] == found[1]["accuracy"]
    painter = ["evaluate", "--model", "paint-mnist", "--data", "x", "--engine", "ctranslate2"]
    assert main(painter) == 2
    assert "--engine is for translators, and paint-mnist is a model for painting" in capsys.readouterr().err


def test_models_that_cannot_decide_together_are_told(text, tmp_path, capsys):
    (tmp_path / "a.txt").write_text("the dog\n")
    assert main(["evaluate", "--model", str(text), "--data", str(tmp_path / "a.txt"), "--with", str(text)]) == 2
    assert "--with is for models that can decide together, not for language-model" in capsys.readouterr().err


def test_a_task_without_a_score_is_told(tmp_path, capsys):
    bert_folder(tmp_path / "published", HeadConfig(kind="states", pooler=True), "BertModel")
    assert main(["import", str(tmp_path / "published"), str(tmp_path / "ours")]) == 0
    model = str(tmp_path / "ours")
    assert main(["evaluate", "--model", model, "--data", str(tmp_path)]) == 1
    assert "is a model for embedding, and there is no score for those yet" in capsys.readouterr().err


def test_two_files_are_a_test_set_of_a_translator(model_folder, text_file, capsys):
    files = [str(text_file), str(text_file)]
    named = scores(capsys, "--model", str(model_folder), "--source", files[0], "--reference", files[1])
    assert scores(capsys, "--model", str(model_folder), "--data", *files) == named
    assert main(["evaluate", "--model", str(model_folder), "--data", files[0]]) == 2
    assert "on two files: --data SOURCE REFERENCE" in capsys.readouterr().err


@pytest.mark.corpora
def test_the_test_part_of_mnist_in_a_process_of_its_own(tmp_path):
    """Ten classes of 28 × 28 pixels and a model that has seen eight steps: what counts is that 10,000 are read."""
    changes = ["training.steps=8", "training.validate_every=8", "training.save_every=8", "training.schedule.warmup=2"]
    changes += ["model.dim=12", "model.hidden_dim=12", "model.layers=1", "training.replicas=1", "data.hold_out=100"]
    command = [sys.executable, "-m", "clearformer"]
    subprocess.run([*command, "train", "mnist", *changes, "--out", str(tmp_path / "run")], check=True)
    done = subprocess.run(
        [*command, "evaluate", "--model", str(tmp_path / "run"), "--data", "mnist", "--json"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found["examples"] == 10_000
    assert found["accuracy_low"] < found["accuracy"] < found["accuracy_high"]


def test_models_are_scored_together(tmp_path, capsys):
    """A model with itself has its own score; a report of several is one of their common results."""
    from cli.readers import reader

    model = reader(tmp_path, "class")
    rows = ["two dogs\tcalm", "in the snow .\twild", "dogs play\todd"]
    (tmp_path / "test.tsv").write_text("\n".join(["text\tlabel", *rows]) + "\n")
    common = ["--model", model, "--data", str(tmp_path / "test.tsv")]
    assert scores(capsys, *common, "--with", model) == pytest.approx(scores(capsys, *common))
    together = scores(capsys, *common, "--with", model, "--report")
    assert together["report"]["confusion"]["labels"]


def test_a_run_that_is_called_like_a_corpus_does_not_stand_before_it(monkeypatch, tmp_path):
    (tmp_path / "mnist").mkdir()
    (tmp_path / "mnist" / "recipe.toml").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(task_scores, "_test_part", lambda name: [Path("corpus", name)])
    assert task_scores.find_test_files(["mnist"]) == [Path("corpus", "mnist")]
    (tmp_path / "mnist" / "recipe.toml").unlink()
    assert task_scores.find_test_files(["mnist"]) == [Path("mnist")]
