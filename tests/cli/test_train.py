"""Training from the command line: two files alone are enough, and what comes out can be run again and used."""

import json
import shlex
from pathlib import Path

import pytest

from clearformer.cli.main import main
from clearformer.cli.train import shipped_recipes
from clearformer.folder.description import read_description
from clearformer.foundation import settings, storage
from clearformer.run.recipe import find_recipe, read_recipe
from flows.tiny_tasks import TINY as TASKS

# Laid over what is chosen, so that a test takes seconds; what is chosen by itself is tested in tests/tasks/automatic.
TINY = ["training.steps=6", "training.validate_every=3", "training.save_every=3", "data.vocabulary.vocab_size=300"]
TINY += ["model.dim=16", "model.hidden_dim=32", "model.layers=1", "model.decoder_layers=1", "training.log_every=2"]
TINY += ["use.beam=1", "use.max_ratio=1.0", "use.max_extra=2", "training.schedule.warmup=2"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """120 pairs of numbers in words, and a pair with an empty side."""
    folder = tmp_path_factory.mktemp("text")
    ones, tens = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], range(12)
    source = "".join(f"{one} and {ten} tens\n" for ten in tens for one in ones) + "\n"
    target = "".join(f"{ten} Zehner, {one.upper()}\n" for ten in tens for one in ones) + "leer\n"
    (folder / "my.en").write_text(source)
    (folder / "my.de").write_text(target)
    return ["--source", str(folder / "my.en"), "--target", str(folder / "my.de")]


@pytest.fixture(scope="module")
def finished(files: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "own"
    assert main(["train", *files, "--out", str(out), *TINY]) == 0
    return out


def advice(stderr: str) -> str:
    """The command that is printed for people at the end."""
    *_, command = [line for line in stderr.splitlines() if "clearformer translate" in line]
    return command[command.index("clearformer translate") :].strip("`")


def test_two_files_alone_become_a_translator(files, tmp_path, capsys):
    out = tmp_path / "a run"  # a space, because the command that is printed has to survive it
    assert main(["train", *files, "--out", str(out), *TINY]) == 0
    printed = capsys.readouterr()
    *scores, model = printed.out.splitlines()
    assert model == str(out / "model")
    command = advice(printed.err)
    shown = dict(line.split(maxsplit=1) for line in scores)
    assert "95 % between" in shown["BLEU"]
    assert float(shown["sentences"]) == 20
    assert "tok:13a" in shown["signature"]
    assert shlex.split(command)[:4] == ["clearformer", "translate", "--model", str(out / "model")]
    assert main(shlex.split(command)[1:]) == 0
    for said in (
        "120 of 121 kept for training",
        "1 blank_source",
        "held out",
        "vocabulary",
        "because",
        "training.steps=6",
    ):
        assert said in printed.err


def test_the_recipe_that_is_kept_gives_the_same_model_again(finished, tmp_path, capsys):
    assert main(["train", str(finished / "recipe.toml"), "--out", str(tmp_path / "again")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'again' / 'model'}\n"
    weights = [storage.sha256(run / "model" / "model.safetensors") for run in (finished, tmp_path / "again")]
    assert weights[0] == weights[1]


def test_help_lists_the_recipes_that_ship(capsys):
    with pytest.raises(SystemExit) as left:
        main(["train", "--help"])
    assert left.value.code == 0
    shown = capsys.readouterr().out
    known = shipped_recipes()
    assert "sample" in known
    for name, says in known.items():
        assert settings.read_toml(find_recipe(name))["name"] == name
        assert len(says) > 20
        assert f"  {name} " in shown
    assert known["zh-en"] == "Chinese to English on everyday sentences of Tatoeba"


def test_a_finished_run_can_be_diagnosed(finished, capsys):
    """By its own folder; a few steps are too few, and that is said."""
    assert main(["diagnose", str(finished), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["measures"]["steps"] == 6
    assert found["measures"]["finished"] is True
    assert found["findings"]
    assert main(["diagnose", str(finished / "model")]) == 1
    assert f"is a model alone: give {finished}, or sentences" in capsys.readouterr().err


def test_even_the_recipe_of_the_second_run_can_be_run(finished, tmp_path):
    """File names in a kept recipe are seen from the folder that it is kept in."""
    for before, after in ((finished, tmp_path / "second"), (tmp_path / "second", tmp_path / "deeper/third")):
        assert main(["train", str(before / "recipe.toml"), "training.steps=1", "--out", str(after)]) == 0


def test_a_run_of_ones_own_goes_on(finished, files, capsys):
    """Nothing is left to do, but everything is found: the split, the recipe, the checkpoints."""
    test_set = (finished / "data" / "test.en").read_bytes()
    assert main(["train", *files, "--out", str(finished), "--resume"]) == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1] == str(finished / "model")
    assert advice(printed.err).startswith("clearformer translate --model")
    assert (finished / "data" / "test.en").read_bytes() == test_set


def test_a_folder_that_holds_a_run_is_left_alone(finished, files, capsys):
    assert main(["train", *files, "--out", str(finished)]) == 1
    assert "already holds a run; continue it with --resume" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "arguments", "reason"),
    [
        (2, [], "name a recipe (`sample` needs nothing else), or give your data"),
        (2, ["--source", "a.en"], "--source and --target belong together"),
        (
            2,
            ["sample", "--source", "a.en", "--target", "a.de"],
            "sample is a recipe, and data goes without one; give one or the other",
        ),
        (1, ["--source", "no.en", "--target", "no.de"], "no.en does not exist; check the name"),
        (1, ["no-such-recipe"], "shipped are aeslc, aeslc-denoising"),
        (2, ["sample", "training.stepps=3"], "did you mean training.steps?"),
        (2, ["sample", "model.preset=giant"], "there is no preset 'giant'; choose one of tiny"),
        (2, ["sample", "model.dimm=16"], "there is no setting model.dimm; did you mean model.dim?"),
        (1, ["sample", "--resume"], "to resume; leave --resume out to begin one"),
        (1, ["--resume"], "to resume: it has no recipe.toml"),
    ],
)
def test_bad_use_gets_a_sentence(tmp_path, capsys, code, arguments, reason):
    assert main(["train", *arguments, "--out", str(tmp_path / "out")]) == code
    assert reason in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_run_goes_on_from_its_folder_alone(finished, capsys):
    """As the message of a stopped run says; here there is nothing left to do but to finish."""
    assert main(["train", "--resume", "--out", str(finished)]) == 0
    captured = capsys.readouterr()
    assert captured.out.strip() == str(finished / "model")
    assert "clearformer translate --model" in captured.err


def test_too_little_text_is_refused(tmp_path, capsys):
    for name in ("few.en", "few.de"):
        (tmp_path / name).write_text("".join(f"{name} {n}\n" for n in range(50)))
    arguments = ["--source", str(tmp_path / "few.en"), "--target", str(tmp_path / "few.de")]
    assert main(["train", *arguments, "--out", str(tmp_path / "out")]) == 1
    assert "few.en and few.de have 50 pairs fit for training, but at least 100 are needed" in capsys.readouterr().err


def test_changes_may_stand_behind_the_options(capsys):
    """argparse takes positional words in one piece; a person writes the change that came to mind last at the end."""
    assert main(["train", "sample", "--out", "nowhere", "training.stepz=3"]) == 2
    assert "stepz" in capsys.readouterr().err


def test_only_a_recipe_is_turned_round(capsys: pytest.CaptureFixture[str], files: list[str]):
    for words in (files, []):
        assert main(["train", *words, "--reverse"]) == 2
        assert "exchange --source and --target instead" in capsys.readouterr().err


def test_evaluate_finds_the_numbers_of_the_log_by_itself(finished: Path, capsys: pytest.CaptureFixture[str]):
    """The folder remembers how its recipe searched (here: greedily), so nothing has to be said twice."""
    logged = [json.loads(line) for line in (finished / "metrics.jsonl").read_text().splitlines()]
    best = max((one for one in logged if one["kind"] == "validation"), key=lambda one: one["bleu"] - 1e-5 * one["loss"])
    data = read_recipe(finished / "recipe.toml").data
    files = ["--source", str(finished / data.dev_source), "--reference", str(finished / data.dev_target)]
    capsys.readouterr()
    assert main(["evaluate", "--model", str(finished / "model"), *files, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["bleu"] == pytest.approx(best["bleu"], abs=0.01)
    assert found["perplexity"] == pytest.approx(best["perplexity"], rel=1e-3)
    assert read_description(finished / "model").provenance["decoding"]["beam"] == 1


def test_a_run_begins_with_a_model_and_says_what_it_gets_wrong(tmp_path, capsys):
    """From a recipe, or from data: the sizes are those of the model that --start names."""
    recipe = TASKS["text-classification"](tmp_path)
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    short = ["training.steps=2", "training.validate_every=2", "training.save_every=2"]
    assert main(["train", str(recipe), *short, "--out", str(first)]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"{first / 'model'}\n"
    assert "on the development set" in printed.err
    assert "true \\ said" in printed.err
    wide = [*short, "model.dim=64"]  # of a model that is begun with, the recipe's own sizes do not count
    assert main(["train", str(recipe), *wide, "--start", str(first), "--out", str(second)]) == 0
    assert read_description(second / "model").model["dim"] == 16
    data = ["--data", str(tmp_path / "reviews.tsv"), "--start", str(first), "--out", str(third)]
    capsys.readouterr()
    assert main(["train", *data, *short]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "learning rate" in said
    assert "--start says so" in said
    assert read_description(third / "model").model["dim"] == 16
    assert main(["train", str(recipe), "--start", str(tmp_path / "nowhere"), "--out", str(tmp_path / "no")]) == 1
    assert "there is no model folder" in capsys.readouterr().err
