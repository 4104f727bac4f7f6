"""The pieces of a text, spelt out."""

import json
from pathlib import Path

import pytest

from clearformer.cli.main import main


def test_pieces_ids_and_json_agree(capsys: pytest.CaptureFixture[str], model_folder: Path):
    model = ["--model", str(model_folder)]
    assert main(["tokenize", "two dogs 雪", "--json", *model]) == 0
    found = json.loads(capsys.readouterr().out)
    assert main(["tokenize", "two dogs 雪", "--ids", *model]) == 0
    assert capsys.readouterr().out.split() == [str(number) for number in found["ids"]]
    assert main(["tokenize", "two dogs 雪", *model]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == len(found["pieces"])
    assert "<0x" in "".join(found["pieces"])  # a character that the vocabulary never saw is spelt in bytes, not lost


def test_a_model_without_vocabulary_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    from clearformer.folder.bundle import Bundle, save
    from clearformer.model.build import build
    from clearformer.model.families import gpt2

    config = gpt2(vocab_size=16, dim=8, hidden_dim=16, layers=1, heads=1)
    save(Bundle(config=config, model=build(config)), tmp_path / "bare")
    assert main(["tokenize", "hello", "--model", str(tmp_path / "bare")]) == 1
    assert "has no tokenizer" in capsys.readouterr().err
