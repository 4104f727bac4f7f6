"""What ships works on a fresh machine: each verb's own model, on pictures and recordings that ship, too."""

import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from clearformer.cli.main import main
from clearformer.cli.models import listed_models
from clearformer.cli.shipped import EXAMPLE, is_example, shipped_examples
from clearformer.folder import bundle
from clearformer.folder.description import read_description, shipped_models, shipped_names
from clearformer.tasks.verbs import VERBS
from support.toy_models import small

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import ship_model

WITH_EXAMPLES = [verb for verb in VERBS.values() if verb.examples]


def lines(capsys, *words):
    capsys.readouterr()
    assert main([*map(str, words)]) == 0
    out, err = capsys.readouterr()
    return out.splitlines(), err


def test_what_ships_says_where_it_comes_from_and_is_small():
    for name in shipped_names():
        told = read_description(shipped_models() / name).provenance
        assert [key for key in ship_model.NEEDED if key not in told] == [], name
    size = sum(path.stat().st_size for path in shipped_models().rglob("*") if path.is_file())
    assert size < ship_model.MOST_BYTES


def test_every_default_ships():
    wanted = {name for verb in VERBS.values() for name in (verb.default, verb.for_pictures) if name}
    assert wanted <= {model.name for model in listed_models() if model.source == "ships"}


@pytest.mark.parametrize("verb", WITH_EXAMPLES, ids=lambda verb: verb.name)
def test_examples_have_a_licence(verb):
    folder = shipped_examples(verb.examples)
    [row] = [line for line in (folder.parent / "README.md").read_text().splitlines() if f"`{folder.name}`" in line]
    assert row.split("|")[-2].strip()
    assert any(folder.iterdir())


@pytest.mark.parametrize("verb", WITH_EXAMPLES, ids=lambda verb: verb.name)
def test_a_refusal_stands_alone_and_a_result_has_the_note_before_it(verb, tmp_path, capsys):
    """What a small model knows is worth saying of what it makes, and not of what it never saw."""
    damaged = tmp_path / ("damaged.wav" if verb.examples == "speech" else "damaged.png")
    damaged.write_bytes(b"no such thing")
    assert main([verb.name, str(damaged)]) == 1
    told = capsys.readouterr().err
    assert "note: " not in told
    assert "damaged" in told
    own = sorted(shipped_examples(verb.examples).iterdir())[0]
    assert main([verb.name, str(own)]) == 0
    assert capsys.readouterr().err.count("note: ") == 1


def test_own_files_come_first(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert is_example(EXAMPLE)
    Path(EXAMPLE).mkdir()
    Image.new("L", (28, 28)).save(Path(EXAMPLE) / "mine.png")
    assert not is_example(EXAMPLE)
    [line], err = lines(capsys, "classify", EXAMPLE)
    assert line.endswith(f"{EXAMPLE}/mine.png")
    assert "knows handwritten digits alone" in err


def test_the_list_of_models_says_what_to_type(capsys, tmp_path, monkeypatch):
    """Each command of a model that ships runs as it is printed."""
    monkeypatch.chdir(tmp_path)
    for model in listed_models():
        if model.source == "ships" and VERBS[model.verb].input in ("picture", "sound", "class"):
            assert main(shlex.split(model.use)[1:]) == 0, model.use


def test_digits_are_read(capsys):
    found, err = lines(capsys, "classify", EXAMPLE)
    assert [line.split("\t")[0] for line in found] == list("0123456789")
    assert err == ""


def test_cells_are_found(capsys, tmp_path):
    found, err = lines(capsys, "detect", EXAMPLE, "--draw", tmp_path)
    labels = {line.split("\t")[0] for line in found}
    assert {"RBC", "WBC"} <= labels
    assert "note" not in err
    assert {Image.open(path).size for path in tmp_path.iterdir()} == {(640, 480)}


def test_nuclei_are_counted(capsys, tmp_path):
    found, _ = lines(capsys, "segment", EXAMPLE, "--json", "--draw", tmp_path)
    assert len(found) == 2
    assert all("error" not in json.loads(line) for line in found)
    assert len(list(tmp_path.glob("*.drawn.png"))) == 2


def test_digits_are_heard(capsys):
    found, err = lines(capsys, "transcribe", EXAMPLE)
    assert [line.split("\t")[0] for line in found] == ["2 0 2 6", "3", "7", "9"]
    assert all(line.endswith(".wav") for line in found), "each with its recording, as there are several"
    assert err == ""


def test_digits_are_painted_and_given_back(capsys, tmp_path):
    painted, _ = lines(capsys, "paint", "7", "--count", "2", "--steps", "8", "--output", tmp_path / "painted")
    assert len(painted) == 2
    labels, _ = lines(capsys, "classify", *painted)
    assert {line.split("\t")[0] for line in labels} == {"7"}
    errors, _ = lines(capsys, "reconstruct", EXAMPLE)
    assert all(float(line.split("\t")[0]) < 0.02 for line in errors)
    assert len(errors) == 10


def test_a_model_of_two_directions_ships_once_for_each(tmp_path, monkeypatch):
    said = dict.fromkeys(ship_model.NEEDED, "x") | {"source_language": "zh", "target_language": "en"}
    bundle.save(replace(small(), provenance=said), tmp_path / "both")
    monkeypatch.setattr(ship_model, "MODELS", tmp_path / "models")
    for name, options in (("zh-en", []), ("en-zh", ["--languages", "en", "zh", "--dtype", "int8"])):
        (tmp_path / "models").mkdir(exist_ok=True)
        monkeypatch.setattr(sys, "argv", ["ship_model.py", str(tmp_path / "both"), name, *options])
        ship_model.main()
    plain, turned = (bundle.load(tmp_path / "models" / name) for name in ("zh-en", "en-zh"))
    assert plain.provenance["source_language"] == turned.provenance["target_language"] == "zh"
    assert (turned.kept, plain.kept) == ("int8", "float16")
