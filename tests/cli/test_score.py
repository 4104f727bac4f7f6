"""`score` gives again what `translate` said of its own output."""

import json
from pathlib import Path

import pytest

from clearformer.cli.main import main


def test_the_score_of_a_translation_is_the_one_it_was_found_with(
    capsys: pytest.CaptureFixture[str], model_folder: Path, tmp_path: Path
):
    main(["translate", "the cat sleeps", "--json", "--nbest", "4", "--model", str(model_folder)])
    found = json.loads(capsys.readouterr().out)
    entries = [found, *found["alternatives"]]
    # Text does not always lead back to the same pieces; compare those that do.
    source, target = tmp_path / "s.txt", tmp_path / "t.txt"
    source.write_text("the cat sleeps\n" * len(entries), encoding="utf-8")
    target.write_text("".join(f"{entry['text']}\n" for entry in entries), encoding="utf-8")
    files = ["--source", str(source), "--target", str(target)]
    assert main(["score", *files, "--model", str(model_folder), "--json"]) == 0
    scored = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    same = [(a, b) for a, b in zip(entries, scored, strict=True) if a["tokens"] == b["tokens"][:-1]]
    assert same
    for entry, again in same:
        assert again["token_log_probs"] == pytest.approx(entry["token_log_probs"], abs=1e-4)


def test_unequal_files_stop(capsys: pytest.CaptureFixture[str], model_folder: Path, text_file: Path, tmp_path: Path):
    short = tmp_path / "short.txt"
    short.write_text("one line\n")
    assert main(["score", "--source", str(text_file), "--target", str(short), "--model", str(model_folder)]) == 1
    assert "4 lines" in capsys.readouterr().err
