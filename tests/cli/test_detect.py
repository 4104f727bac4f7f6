"""Boxes from the command line: lines and JSON, drawn pictures, and a word when nothing was found."""

import json
import re
from dataclasses import replace

import pytest
from PIL import Image

from clearformer.cli.main import main
from clearformer.folder import bundle
from clearformer.folder.preprocessing import Outcome
from clearformer.run.recipe import read_recipe
from flows.tiny_tasks import write_shapes
from run.assembled import assemble
from studio.small_pictures import picture_model
from support.toy_boxes import draw_many, write_coco


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Untrained, so that every patch says a little of everything: the threshold is below that."""
    folder = tmp_path_factory.mktemp("detect")
    made = assemble(read_recipe(write_shapes(folder)), folder).made
    low = replace(made, preprocessing=replace(made.preprocessing, outcome=Outcome(threshold=0.0)))
    bundle.save(low, folder / "model")
    return str(folder / "model")


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    return write_coco(tmp_path_factory.mktemp("new"), draw_many(3, seed=5)).parent / "images"


def run(capsys, *words):
    capsys.readouterr()
    code = main(["detect", *map(str, words)])
    return code, *capsys.readouterr()


def test_a_line_per_object_and_counts_beside(model, pictures, capsys):
    code, out, err = run(capsys, pictures / "001.png", "--model", model, "--most", 4)
    lines = [line.split("\t") for line in out.splitlines()]
    assert code == 0
    assert len(lines) == 4
    for label, score, *edges, file in lines:
        assert label in ("disc", "square")
        assert 0 <= float(score) <= 1
        assert file == str(pictures / "001.png")
        left, top, right, bottom = map(float, edges)
        assert 0 <= left <= right <= 60
        assert 0 <= top <= bottom <= 40
    assert re.search(r"^1 picture: \d (disc|square)", err, re.MULTILINE)


def test_json_has_size_counts_and_objects(model, pictures, capsys):
    code, out, _ = run(capsys, pictures, "--model", model, "--json", "--most", 5)
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [row["file"] for row in rows] == [str(pictures / f"{n:03}.png") for n in (1, 2, 3)]
    for row in rows:
        assert (row["width"], row["height"], len(row["objects"])) == (60, 40, 5)
        assert sum(row["counts"].values()) == 5
        assert {"label", "score", "box"} == set(row["objects"][0])


def test_batches_change_nothing(model, pictures, capsys):
    found = [run(capsys, pictures, "--model", model, "--batch", batch)[1].splitlines() for batch in (1, 32)]
    assert [line.split("\t")[0] for line in found[0]] == [line.split("\t")[0] for line in found[1]]
    for one, other in zip(*found, strict=True):
        assert [float(x) for x in one.split("\t")[1:6]] == pytest.approx(
            [float(x) for x in other.split("\t")[1:6]], abs=0.11
        )


@pytest.mark.parametrize(("option", "ending"), [((), "png"), (("--svg",), "svg")])
def test_drawn_pictures_are_named_after_theirs_and_never_written_over(
    model, pictures, tmp_path, capsys, option, ending
):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "p.png").write_bytes((pictures / "001.png").read_bytes())
    files = [tmp_path / "a" / "p.png", tmp_path / "b" / "p.png"]
    code, _, _ = run(capsys, *files, "--model", model, "--draw", tmp_path / "a", "--most", 2, *option)
    assert code == 0
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == sorted(
        ["p.png", f"p-boxes.{ending}", f"p-boxes-2.{ending}"]
    )
    assert files[0].read_bytes() == (pictures / "001.png").read_bytes()
    if ending == "png":
        assert Image.open(tmp_path / "a" / "p-boxes.png").size == (60, 40)


def test_nothing_found_is_said_with_threshold_and_sizes(model, pictures, capsys):
    code, out, err = run(capsys, pictures / "001.png", "--model", model, "--threshold", 1)
    assert (code, out) == (0, "")
    assert re.search(r"001\.png: nothing was found: the best score is 0\.\d+ and the threshold 1;", err)
    assert "of 60 × 40 pixels the model sees 32 × 32" in err
    assert "1 picture: no objects" in err


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (["no.png"], 1, "no.png does not exist"),
        (["{tmp}/text.png"], 1, "text.png cannot be read as a picture"),
        (["{tmp}/half.png"], 1, "half.png cannot be read as a picture"),
        (["{tmp}"], 1, "holds no pictures"),
        (["{good}", "--svg"], 2, "--svg says how --draw writes pictures"),
        (["{good}", "--threshold", "7"], 2, "--threshold"),
        (["{good}", "--draw", "{good}"], 2, "is a file; name a folder"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(model, pictures, tmp_path, capsys, words, code, why):
    good = pictures / "001.png"
    if "png" in words[0]:
        (tmp_path / "text.png").write_text("no picture")
        (tmp_path / "half.png").write_bytes(good.read_bytes()[:300])
    given = [word.format(tmp=tmp_path, good=good) for word in words]
    found, out, err = run(capsys, *given, "--model", model)
    assert (found, out) == (code, "")
    assert why in err
    assert "Traceback" not in err
    assert len(err.strip().splitlines()) == 1


def test_another_model_is_refused_with_its_verb(pictures, tmp_path, capsys):
    bundle.save(picture_model(), tmp_path / "classes")
    code, _, err = run(capsys, pictures / "001.png", "--model", tmp_path / "classes")
    assert code == 1
    assert "use `clearformer classify`" in err


def test_evaluate_scores_it(model, pictures, capsys):
    capsys.readouterr()
    assert main(["evaluate", "--model", model, "--data", str(pictures.parent / "boxes.json"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert 0 <= told["ap50_low"] <= told["ap50"] <= told["ap50_high"] <= 1
    assert {"ap50:disc", "ap50:square", "signature", "examples"} <= set(told)
