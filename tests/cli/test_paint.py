"""Paintings from the command line: files, a sheet, the nearest training pictures, and refusals in a sentence."""

import json

import numpy as np
import pytest
from PIL import Image

from clearformer.cli.main import main
from clearformer.data.readers.pictures import read_picture
from clearformer.folder import bundle
from inference.test_painter import made


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("painter") / "model"
    bundle.save(made("hidden-places"), folder)
    return str(folder)


def test_pictures_and_a_sheet(model, tmp_path, capsys):
    out = tmp_path / "out"
    capsys.readouterr()
    told = ["paint", "owl", "cat", "--model", model, "--count", "2", "--steps", "2", "--output", str(out)]
    assert main(told) == 0
    printed = capsys.readouterr()
    names = ["owl-000-seed1.png", "owl-001-seed1.png", "cat-000-seed1.png", "cat-001-seed1.png"]
    assert printed.out.splitlines() == [str(out / name) for name in names]
    assert "4 pictures in" in printed.err
    assert sorted(path.name for path in out.iterdir()) == sorted([*names, "sheet.png"])
    paper = read_picture(out / "sheet.png")
    assert np.array_equal(paper[2:18:2, 2:18:2], read_picture(out / names[0]))
    assert np.array_equal(paper[20:36:2, 20:36:2], read_picture(out / names[3]))


def test_the_nearest_training_pictures_are_shown(model, tmp_path, capsys):
    out, known = tmp_path / "out", tmp_path / "known"
    known.mkdir()
    given = ["paint", "dog", "--model", model, "--count", "1", "--steps", "2", "--output", str(out), "--json"]
    assert main(given) == 0
    capsys.readouterr()
    Image.fromarray(read_picture(out / "dog-000-seed1.png")[..., 0]).save(known / "copied.png")
    Image.fromarray(np.zeros((8, 8), dtype=np.uint8)).save(known / "other.png")
    assert main([*given, "--nearest", str(known)]) == 0
    [line] = capsys.readouterr().out.splitlines()
    assert json.loads(line)["nearest"] == 0
    paper = read_picture(out / "nearest.png")
    assert np.array_equal(paper[2:18:2, 2:18:2], paper[20:36:2, 2:18:2])  # the copy below the painting


def test_what_cannot_be_done_is_one_sentence(model, tmp_path, capsys):
    for given, code, said in (
        (["horse", "--model", model], 1, "this model does not paint 'horse'; it paints cat, dog, owl"),
        (["--model", model, "--guidance", "-1"], 2, "--guidance must be at least 0.0"),
        (["--model", model, "--nearest", str(tmp_path / "gone")], 1, "gone does not exist"),
        (["--model", model, "--nearest", str(tmp_path)], 1, "holds no pictures; give --nearest"),
        (["--model", "en-de"], 1, "translates, not one that paints pictures; use `clearformer translate`"),
    ):
        assert main(["paint", *given, "--output", str(tmp_path / "out")]) == code
        assert said in capsys.readouterr().err
    (tmp_path / "file").touch()
    assert main(["paint", "--model", model, "--output", str(tmp_path / "file")]) == 2
    assert "is a file; name a folder" in capsys.readouterr().err
