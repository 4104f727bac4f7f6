"""Test sentences in the training data are found at their line."""

from pathlib import Path

from clearformer.text.doctor.findings import Kind
from clearformer.text.doctor.overlap import examine_overlap


def _write(folder: Path, name: str, pairs: list[tuple[str, str]]) -> tuple[Path, Path]:
    files = folder / f"{name}.en", folder / f"{name}.de"
    for side, file in enumerate(files):
        file.write_text("".join(pair[side] + "\n" for pair in pairs), encoding="utf-8")
    return files


def test_shared_pairs_and_shared_sources_are_told_apart(tmp_path):
    train = _write(tmp_path, "train", [("a", "A"), ("dog", "Hund"), ("", ""), ("cat", "Kater"), ("dog", "Hund")])
    test = _write(tmp_path, "test", [("x", "X"), ("cat", "Katze"), ("dog", "Hund"), ("", "")])
    report = examine_overlap(train, test)
    assert [(found.file, found.line, found.detail) for found in report.of(Kind.OVERLAP)] == [
        (str(train[0]), 2, f"line 3 of {test[0]}"),
        (str(train[0]), 5, f"line 3 of {test[0]}"),
    ]
    assert [found.line for found in report.of(Kind.OVERLAP_SOURCE)] == [4]
    assert not report.fatal


def test_separate_sets_have_no_finding(tmp_path):
    train = _write(tmp_path, "train", [("a", "A")])
    assert examine_overlap(train, _write(tmp_path, "test", [("b", "B")])).findings == []


def test_a_file_that_cannot_be_read_is_told(tmp_path):
    train = _write(tmp_path, "train", [("a", "A")])
    report = examine_overlap(train, (tmp_path / "no.en", tmp_path / "no.de"))
    assert report.fatal
    assert {Path(found.file).name for found in report.of(Kind.UNREADABLE)} <= {"no.en", "no.de"}
