"""Log-probabilities of given translations, token by token."""

import json
from pathlib import Path

import pytest

from clearformer.cli.main import main


def test_every_line_has_its_tokens_and_they_add_up(
    capsys: pytest.CaptureFixture[str], model_folder: Path, text_file: Path
):
    from clearformer.api import load

    files = ["--source", str(text_file), "--target", str(text_file), "--model", str(model_folder)]
    assert main(["score", *files, "--json"]) == 0
    scored = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert main(["score", *files]) == 0
    totals = [float(line.split("\t")[0]) for line in capsys.readouterr().out.splitlines()]
    translator = load(model_folder)
    lines = text_file.read_text(encoding="utf-8").split("\n")[:-1]
    assert len(scored) == len(lines)
    for text, one, total in zip(lines, scored, totals, strict=True):
        assert one["tokens"][-1] == "<eos>"
        assert len(one["tokens"]) == len(one["token_log_probs"])
        assert one["log_prob"] == pytest.approx(total, abs=1e-3)
        if text:
            assert one["token_log_probs"] == pytest.approx(translator.score(text, text))


def test_unequal_files_stop(capsys: pytest.CaptureFixture[str], model_folder: Path, text_file: Path, tmp_path: Path):
    short = tmp_path / "short.txt"
    short.write_text("one line\n")
    assert main(["score", "--source", str(text_file), "--target", str(short), "--model", str(model_folder)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""  # no half of a result
    assert "4 lines" in captured.err
