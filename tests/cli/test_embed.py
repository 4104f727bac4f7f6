"""Vectors from the command line: one per text, of length one, as JSON lines or as one matrix."""

import json

import numpy as np
import pytest

from clearformer.cli.main import main
from interop.folders import bert_folder


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bert")
    bert_folder(folder / "published")
    assert main(["import", str(folder / "published"), str(folder / "ours")]) == 0
    return str(folder / "ours")


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("two dogs\nthe snow .\ntwo dogs\n")
    return str(path)


def test_one_array_per_text_of_length_one_and_equal_texts_are_equal(model, texts, capsys):
    capsys.readouterr()
    assert main(["embed", "--model", model, "--input", texts, "--batch", "2"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == 3
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)
    assert rows[0] == pytest.approx(rows[2], abs=1e-6)
    assert rows[0] != pytest.approx(rows[1], abs=1e-3)


def test_a_matrix_has_the_same_numbers(model, texts, tmp_path, capsys):
    assert main(["embed", "--model", model, "--input", texts, "--output", str(tmp_path / "v.npy")]) == 0
    capsys.readouterr()
    assert main(["embed", "--model", model, "--input", texts, "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    matrix = np.load(tmp_path / "v.npy")
    assert matrix.dtype == np.float32
    assert (matrix == np.array([entry["vector"] for entry in found], dtype=np.float32)).all()
    assert [entry["text"] for entry in found] == ["two dogs", "the snow .", "two dogs"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["texts.txt", "v.npy"]


@pytest.mark.parametrize("output", [[], ["--output", "v.npy"]])
def test_a_blank_line_is_named_and_nothing_is_written(model, tmp_path, capsys, output, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.txt").write_text("two dogs\n\nthe snow\n")
    assert main(["embed", "--model", model, "--input", "in.txt", *output]) == 1
    assert "in.txt:2 is empty" in capsys.readouterr().err
    assert not (tmp_path / "v.npy").exists()


def test_both_engines_say_the_same(model, capsys):
    found = {}
    for engine in ("torch", "ctranslate2", "auto"):
        capsys.readouterr()
        assert main(["embed", "two dogs", "the snow .", "--model", model, "--json", "--engine", engine]) == 0
        found[engine] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert found["auto"] == found["torch"]
    for ours, theirs in zip(found["ctranslate2"], found["torch"], strict=True):
        assert numbers(ours) == pytest.approx(numbers(theirs), abs=1e-4)


def numbers(found: dict) -> list[float]:
    """The vector."""
    return found["vector"]


def test_a_long_line_has_a_vector_like_any_other(model, tmp_path, capsys):
    (tmp_path / "in.txt").write_text("two dogs\n" + "dogs " * 20_000 + "\n")
    assert main(["embed", "--model", model, "--input", str(tmp_path / "in.txt")]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)
