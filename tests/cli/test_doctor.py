"""The doctor's findings on the command line."""

import json
from pathlib import Path

import pytest

from clearformer.cli.main import main


def write(path: Path, *lines: str) -> str:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def test_a_good_corpus_is_exit_code_0(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    pair = write(tmp_path / "a.en", "a dog", "a cat"), write(tmp_path / "a.de", "ein Hund", "eine Katze")
    assert main(["doctor", *pair]) == 0
    assert "2 of 2 kept" in capsys.readouterr().out


def test_unequal_files_are_exit_code_1_with_both_numbers(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    pair = write(tmp_path / "a.en", "a dog", "a cat"), write(tmp_path / "a.de", "ein Hund")
    assert main(["doctor", *pair]) == 1
    printed = capsys.readouterr().out
    assert "2 lines" in printed
    assert "1 lines" in printed


def test_a_test_set_inside_the_corpus_is_found(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    pair = write(tmp_path / "a.en", "a dog", "a cat"), write(tmp_path / "a.de", "ein Hund", "eine Katze")
    test = write(tmp_path / "t.en", "a cat"), write(tmp_path / "t.de", "eine Katze")
    main(["doctor", *pair, "--test", *test, "--json"])
    reports = json.loads(capsys.readouterr().out)
    assert reports[1]["counts"]
    assert reports[1]["findings"][0]["line"] == 2


def test_the_test_set_of_a_table_is_a_table(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    rows = [f"text {n},{('good', 'bad')[n % 2]}" for n in range(24)]
    train = write(tmp_path / "train.csv", "text,label", *rows)
    test = write(tmp_path / "test.csv", "text,label", "Text  3,bad", "new,good")
    assert main(["doctor", train, "--test", test]) == 0
    assert f"1 of 2 texts are in {train}, too" in capsys.readouterr().out


def test_a_test_set_needs_a_pair(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    one = write(tmp_path / "a.en", "a dog")
    assert main(["doctor", one, "--test", one, one]) == 2
    assert "two files" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("names.conll", "Rome\tB-LOC\nand\tO\n\nAda\tI-PER\n", "2 entities: LOC (1), PER (1)"),
        ("export.txt", "Rome\t4\tB-LOC\nand\t3\tO\n\n" * 9, "9 entities: LOC (9)"),
        ("films.tsv", "label\ttext\nbad\tdull\ngood\tfine\n", "2 texts in 2 classes"),
    ],
)
def test_labelled_files_are_not_taken_for_running_text(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name, text, told
):
    (tmp_path / name).write_text(text)
    assert main(["doctor", str(tmp_path / name)]) == 0
    assert told in capsys.readouterr().out
