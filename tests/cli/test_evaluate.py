"""Scores with everything that a reader needs to repeat them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from clearformer.cli.main import main
from clearformer.folder.bundle import load, save
from clearformer.interop.to_ctranslate2 import convert


def test_json_has_the_promised_keys(capsys: pytest.CaptureFixture[str], model_folder: Path, text_file: Path):
    files = ["--source", str(text_file), "--reference", str(text_file)]
    assert main(["evaluate", "--model", str(model_folder), *files, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"bleu", "chrf", "perplexity", "signature", "sentences"} <= found.keys()
    assert found["sentences"] == 4
    assert found["perplexity"] > 1
    assert "tok:13a" in found["signature"]


def test_both_engines_find_the_same(capsys: pytest.CaptureFixture[str], model_folder: Path, text_file: Path):
    files = ["--source", str(text_file), "--reference", str(text_file), "--json"]
    scores = []
    for engine in ("torch", "ctranslate2"):
        assert main(["evaluate", "--model", str(model_folder), *files, "--engine", engine]) == 0
        scores.append(json.loads(capsys.readouterr().out))
    assert scores[0].pop("perplexity") == pytest.approx(scores[1].pop("perplexity"), rel=1e-4)
    assert scores[0] == scores[1]


def test_a_folder_for_ctranslate2_alone_is_scored_too(
    capsys: pytest.CaptureFixture[str], model_folder: Path, text_file: Path, tmp_path: Path
):
    convert(model_folder, tmp_path / "small", quantization="int8")
    files = ["--source", str(text_file), "--reference", str(text_file)]
    assert main(["evaluate", "--model", str(tmp_path / "small"), *files]) == 0
    assert "perplexity" in capsys.readouterr().out


def test_the_translations_can_be_kept(model_folder: Path, text_file: Path, tmp_path: Path):
    files = ["--source", str(text_file), "--reference", str(text_file), "--output", str(tmp_path / "kept.txt")]
    assert main(["evaluate", "--model", str(model_folder), *files]) == 0
    assert (tmp_path / "kept.txt").read_text(encoding="utf-8").count("\n") == 4


def test_unequal_files_are_refused_with_both_numbers(
    capsys: pytest.CaptureFixture[str], model_folder: Path, text_file: Path, tmp_path: Path
):
    short = tmp_path / "short.txt"
    short.write_text("one line\n")
    assert main(["evaluate", "--model", str(model_folder), "--source", str(text_file), "--reference", str(short)]) == 1
    assert "4 lines" in (message := capsys.readouterr().err)
    assert "has 1;" in message


def test_something_to_score_must_be_named(capsys: pytest.CaptureFixture[str], model_folder: Path):
    assert main(["evaluate", "--model", str(model_folder)]) == 2
    assert "--source and --reference" in capsys.readouterr().err


def test_an_unknown_tokeniser_of_the_folder_is_refused_too(
    capsys: pytest.CaptureFixture[str], model_folder: Path, text_file: Path, tmp_path: Path
):
    made = load(model_folder)
    save(replace(made, provenance={**made.provenance, "tokenise": "foo"}), tmp_path / "model")
    files = ["--source", str(text_file), "--reference", str(text_file)]
    assert main(["evaluate", "--model", str(tmp_path / "model"), *files]) == 1
    assert "no tokeniser 'foo'" in capsys.readouterr().err


def test_an_unknown_tokeniser_is_refused_before_anything_is_translated(
    capsys: pytest.CaptureFixture[str], model_folder: Path, text_file: Path
):
    files = ["--source", str(text_file), "--reference", str(text_file)]
    assert main(["evaluate", "--model", str(model_folder), *files, "--tokenise", "foo"]) == 2
    assert "no tokeniser 'foo'; choose one of 13a" in capsys.readouterr().err


def test_a_sentence_that_is_too_long_is_named_by_file_and_line(
    capsys: pytest.CaptureFixture[str], model_folder: Path, tmp_path: Path
):
    (tmp_path / "in.txt").write_text("a dog\n" + "dog " * 3000 + "\n")
    files = ["--source", str(tmp_path / "in.txt"), "--reference", str(tmp_path / "in.txt")]
    assert main(["evaluate", "--model", str(model_folder), *files]) == 1
    assert f"{tmp_path / 'in.txt'}:2 has " in capsys.readouterr().err


def test_an_output_that_cannot_be_written_is_refused_before_anything_is_translated(
    capsys: pytest.CaptureFixture[str], model_folder: Path, text_file: Path, tmp_path: Path
):
    files = ["--source", str(text_file), "--reference", str(text_file), "--output", str(tmp_path / "nowhere" / "x")]
    assert main(["evaluate", "--model", str(model_folder), *files]) == 1
    captured = capsys.readouterr().err
    assert "cannot be written" in captured
    assert "translating" not in captured
