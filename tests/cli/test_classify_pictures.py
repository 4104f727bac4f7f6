"""Pictures from the command line: folders in folders, CSV, damaged files left out, and where the model looked."""

import csv
import io
import json
import shutil
from pathlib import Path

import pytest
from PIL import Image

from clearformer.cli.main import main
from clearformer.folder.description import find_model
from cli.readers import reader
from cli.trained_models import draw_pictures, train_pictures


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(train_pictures(tmp_path_factory.mktemp("pictures")))


@pytest.fixture
def drawn(tmp_path, capsys):
    folder = draw_pictures(tmp_path / "new", 2, seed=20)
    capsys.readouterr()
    return folder


def test_a_folder_of_folders_is_a_table_with_a_column_for_every_class(model, drawn, capsys):
    assert main(["classify", str(drawn), "--model", model, "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["file"].removeprefix(f"{drawn}/") for row in rows] == [
        "bottom/000.png", "bottom/001.png", "top/000.png", "top/001.png"
    ]  # fmt: skip
    assert [row["class"] for row in rows] == ["bottom", "bottom", "top", "top"]
    for row in rows:
        assert float(row["top"]) + float(row["bottom"]) == pytest.approx(1, abs=1e-5)
        assert row["probability"] == max(row["top"], row["bottom"])


def test_damaged_pictures_are_left_out_by_name_if_that_is_wanted(model, drawn, capsys):
    (drawn / "top" / "000.png").write_bytes(b"no picture")
    assert main(["classify", str(drawn), "--model", model]) == 1
    assert "000.png cannot be read" in capsys.readouterr().err
    assert main(["classify", str(drawn), "--model", model, "--leave-out", "--batch", "1"]) == 0
    told = capsys.readouterr()
    assert len(told.out.splitlines()) == 3
    assert "1 picture was left out: " in told.err
    assert "top/000.png" in told.err


def test_the_mirror_image_may_be_looked_at_too(model, drawn, capsys):
    found = {}
    for options in ((), ("--flips",)):
        assert main(["classify", str(drawn / "top" / "001.png"), "--model", model, "--json", *options]) == 0
        found[options] = json.loads(capsys.readouterr().out)["scores"]
    assert found[()] != found["--flips",]
    assert sum(found["--flips",].values()) == pytest.approx(1)


def test_where_the_model_looked_adds_up_to_all(model, drawn, capsys):
    assert main(["classify", str(drawn / "top"), "--model", model, "--why", "rollout", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for one in lines:
        rows = one["why"]["patches"]
        assert len(rows) == len(rows[0])
        assert sum(map(sum, rows)) + one["why"]["token"] == pytest.approx(1)
    assert lines[0]["why"] != lines[1]["why"]
    assert main(["classify", str(drawn / "top" / "001.png"), "--model", model, "--why"]) == 0
    shown = capsys.readouterr().out
    assert "attention rollout" in shown
    assert "█" in shown


@pytest.mark.parametrize("name", ["why.svg", "why.png"])
def test_where_the_model_looked_is_a_figure(model, drawn, tmp_path, capsys, name):
    out = tmp_path / name
    assert main(["classify", str(drawn / "top" / "001.png"), "--model", model, "--why", "--svg", str(out)]) == 0
    capsys.readouterr()
    if name.endswith("svg"):
        assert "data:image/png;base64," in out.read_text(encoding="utf-8")
    else:
        assert Image.open(out).size == (660, 320)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--csv", "--json"], "--csv and --json are two forms of one answer"),
        (["--why", "gradient"], "a picture is explained by --why rollout"),
        (["--why", "--csv"], "a picture is explained by --why rollout"),
        (["--why", "--svg", "a.svg", "another.png"], "--svg draws one picture"),
        (["--svg", "a.svg"], "--svg belongs to --why"),
    ],
)
def test_what_does_not_go_together_is_refused(model, drawn, capsys, options, message):
    assert main(["classify", str(drawn / "top" / "000.png"), *options, "--model", model]) == 2
    assert message in capsys.readouterr().err


def test_a_model_of_texts_has_no_use_for_them(tmp_path, capsys):
    texts = reader(tmp_path, "class")
    for option in ("--csv", "--leave-out"):
        assert main(["classify", "two dogs", "--model", texts, option]) == 2
        assert f"{option} is for models of pictures" in capsys.readouterr().err


def test_without_a_model_pictures_are_read_by_the_one_that_ships(model, drawn, monkeypatch, capsys):
    """Texts have none; before a model ships, or with texts, --model is asked for."""
    shipped = Path(model).parent / "shipped"
    shutil.copytree(find_model(model), shipped / "mnist", dirs_exist_ok=True)
    monkeypatch.setattr("clearformer.folder.description.shipped_models", lambda: shipped)
    assert main(["classify", str(drawn / "top")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    for given in (["two dogs"], [str(drawn / "top"), "two dogs"]):
        assert main(["classify", *given]) == 2
        assert "--model is needed: name a classifier" in capsys.readouterr().err
    shutil.rmtree(shipped)
    assert main(["classify", str(drawn / "top")]) == 2
