"""A table for people, JSON for scripts, and a sentence where it may not be."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from clearformer.cli.main import main
from clearformer.folder import bundle
from clearformer.model.config import AttentionConfig
from support.toy_models import small
from support.toy_readers import HEADS, saved


@pytest.fixture
def model(tmp_path: Path) -> Path:
    bundle.save(small(), tmp_path / "model")
    return tmp_path / "model"


def test_before_and_after_are_shown(capsys: pytest.CaptureFixture[str], model: Path, text_file: Path, tmp_path: Path):
    files = ["--source", str(text_file), "--reference", str(text_file), "--limit", "100"]
    assert main(["quantize", str(model), str(tmp_path / "small"), *files]) == 0
    shown = capsys.readouterr().out
    assert [line.split()[0] for line in shown.splitlines()] == ["float32", "size", "sentences/s", "BLEU", "clearformer"]
    assert main(["translate", "two dog", "--model", str(tmp_path / "small")]) == 0
    assert main(["quantize", str(model), str(tmp_path / "again"), *files, "--json"]) == 0
    capsys.readouterr()


def test_json_has_both(capsys: pytest.CaptureFixture[str], model: Path, text_file: Path, tmp_path: Path):
    files = ["--source", str(text_file), "--reference", str(text_file), "--limit", "100", "--json"]
    assert main(["quantize", str(model), str(tmp_path / "small"), *files]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["after"]["bytes"] < found["before"]["bytes"]
    assert found["lost"] == pytest.approx(found["before"]["bleu"] - found["after"]["bleu"])


def test_without_a_test_set_it_asks_for_one(capsys: pytest.CaptureFixture[str], model: Path, tmp_path: Path):
    assert main(["quantize", str(model), str(tmp_path / "small")]) == 2
    assert "--data, or give --source and --reference" in capsys.readouterr().err


def test_a_classifier_is_scored_by_its_accuracy(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    saved(tmp_path / "model", head=HEADS["class"])
    (tmp_path / "test.tsv").write_text("text\tlabel\ntwo dog\tgood\nthe snow\tbad\nthe cat\tneither\n")
    given = ["quantize", str(tmp_path / "model"), "--data", str(tmp_path / "test.tsv"), "--limit", "100"]
    assert main([*given, str(tmp_path / "small")]) == 0
    shown = capsys.readouterr().out
    assert [line.split()[0] for line in shown.splitlines()] == ["before", "size", "seconds", "accuracy", "clearformer"]
    assert f"clearformer classify --model {tmp_path / 'small'} uses it" in shown
    assert main(["classify", "two dog", "--model", str(tmp_path / "small")]) == 0
    assert main([*given, str(tmp_path / "again"), "--json"]) == 0
    assert '"lost"' in capsys.readouterr().out
    assert main([*given, str(tmp_path / "third"), "--beam", "4"]) == 2
    assert "--beam is for translators" in capsys.readouterr().err


def test_a_model_without_a_score_is_pointed_to_export(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    saved(tmp_path / "model", head=HEADS["states"])
    assert main(["quantize", str(tmp_path / "model"), str(tmp_path / "small")]) == 1
    assert "--to ctranslate2 --quantization int8" in capsys.readouterr().err
    export = ["export", str(tmp_path / "model"), str(tmp_path / "small"), "--to", "ctranslate2"]
    assert main([*export, "--quantization", "int8"]) == 0
    assert main(["embed", "two dog", "--model", str(tmp_path / "small")]) == 0


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_an_empty_file_is_named(capsys: pytest.CaptureFixture[str], model: Path, tmp_path: Path, content: str):
    void, small_one = tmp_path / "void.txt", str(tmp_path / "small")
    void.write_text(content)
    generator = small(shape="decoder", attention=AttentionConfig(heads=2))
    bundle.save(replace(generator, task="language-model"), tmp_path / "writer")
    assert main(["quantize", str(tmp_path / "writer"), small_one, "--data", str(void)]) == 1
    assert f"{void} is empty; give" in capsys.readouterr().err
    assert main(["evaluate", "--model", str(tmp_path / "writer"), "--data", str(void)]) == 1
    assert f"{void} is empty; give" in capsys.readouterr().err
    assert main(["quantize", str(model), small_one, "--source", str(void), "--reference", str(void)]) == 1
    assert f"{void} is empty; give" in capsys.readouterr().err
    assert not Path(small_one).exists()
