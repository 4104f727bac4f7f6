"""Masks from the command line: files and folders in, lines, JSON and pictures out, refusals in one sentence."""

import json

import numpy as np
import pytest
from PIL import Image

from clearformer.cli.main import main
from clearformer.folder import bundle
from inference.test_segmenter import made, picture


@pytest.fixture
def folder(tmp_path):
    bundle.save(made("instances", 4), tmp_path / "things")
    bundle.save(made("classes", 3), tmp_path / "classes")
    (tmp_path / "in").mkdir()
    for number, shape in enumerate(((16, 16), (20, 37))):
        Image.fromarray(picture(number, *shape)[..., 0]).save(tmp_path / "in" / f"{number}.png")
    return tmp_path


def test_lines_json_and_drawings(folder, capsys):
    model = ["segment", "--model", str(folder / "things")]
    assert main([*model, str(folder / "in"), "--draw", str(folder / "out")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.rsplit("\t", 1)[1] for line in lines] == [str(folder / "in" / f"{n}.png") for n in range(2)]
    mask = Image.open(folder / "out" / "1.mask.png")
    assert mask.mode.startswith("I;16")
    assert mask.size == (37, 20)
    drawn = Image.open(folder / "out" / "1.drawn.png")
    assert (drawn.mode, drawn.size) == ("RGB", (37, 20))
    assert main([*model, str(folder / "in" / "1.png"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["width"], found["height"]) == (37, 20)
    numbers, areas = np.unique(np.asarray(mask), return_counts=True)
    assert found["count"] == len(found["instances"]) == (numbers > 0).sum()
    assert [one["area"] for one in found["instances"]] == areas[numbers > 0].tolist()
    assert lines[1].split("\t")[0] == str(found["count"])


def test_classes_say_their_share(folder, capsys):
    assert main(["segment", "--model", str(folder / "classes"), str(folder / "in" / "0.png"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert sum(one["share"] for one in found["classes"]) == pytest.approx(1)
    assert main(["segment", "--model", str(folder / "classes"), str(folder / "in" / "0.png")]) == 0
    assert "%" in capsys.readouterr().out


def test_where_nothing_was_found_a_sentence_says_what_to_do(folder, capsys):
    given = ["segment", "--model", str(folder / "things"), str(folder / "in" / "0.png"), "--smallest", "9999"]
    assert main(given) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("0\t")
    assert "nothing was found in the picture: a --threshold below 0.5" in captured.err


def test_what_cannot_be_done_is_one_sentence(folder, capsys):
    model = ["segment", "--model", str(folder / "things")]
    (folder / "in" / "2.png").write_bytes(b"\x89PNG")
    for given, said in (
        ([str(folder / "in" / "2.png")], "2.png cannot be read as a picture"),
        ([str(folder / "nowhere.png")], "nowhere.png does not exist"),
        ([str(folder / "things")], "holds no pictures"),
    ):
        assert main([*model, *given]) == 1
        error = capsys.readouterr().err
        assert said in error
        assert "Traceback" not in error
    assert main([*model, str(folder / "in" / "0.png"), "--draw", str(folder / "in" / "0.png")]) == 2
    assert main([*model, "--threshold", "2", str(folder / "in" / "0.png")]) == 2
    (folder / "other").mkdir()
    Image.fromarray(picture(1)[..., 0]).save(folder / "other" / "0.png")
    both = [str(folder / "in" / "0.png"), str(folder / "other" / "0.png"), "--draw", str(folder / "out")]
    assert main([*model, *both]) == 2
    assert "have one name" in capsys.readouterr().err
