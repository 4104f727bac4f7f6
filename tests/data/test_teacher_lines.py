"""The tool that lets a published model write lessons: nothing lost or doubled when it is stopped."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("ctranslate2")
pytest.importorskip("sentencepiece")
sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import teacher_lines


class Echo:
    """Answers with what it was given, and counts."""

    def __init__(self, folder, *, beam, threads):
        self.seen = []
        Echo.last = self

    def translate(self, sentences):
        self.seen += sentences
        return [sentence.upper() for sentence in sentences]


def test_a_run_goes_on_where_it_was_stopped(tmp_path, monkeypatch):
    given, written = tmp_path / "given", tmp_path / "written"
    given.write_text("".join(f"line {n}\n" for n in range(25)), encoding="utf-8")
    written.write_text("LINE 0\nLINE 1\nLINE", encoding="utf-8")  # stopped while it wrote
    monkeypatch.setattr(teacher_lines, "Teacher", Echo)
    monkeypatch.setattr(teacher_lines, "BLOCK", 10)
    monkeypatch.setattr(sys, "argv", ["teacher_lines.py", str(tmp_path), str(given), str(written)])
    teacher_lines.main()
    assert written.read_text(encoding="utf-8") == given.read_text(encoding="utf-8").upper()
    assert Echo.last.seen[0] == "line 2"
    teacher_lines.main()
    assert Echo.last.seen == []


def test_pieces_become_text():
    assert teacher_lines.spelled(["▁Ma", "chine", "▁learning", "."]) == "Machine learning."


def test_only_whole_lines_count(tmp_path):
    assert teacher_lines.whole_lines(tmp_path / "none") == 0
    (tmp_path / "half").write_bytes("一\n二".encode()[:-1])
    assert teacher_lines.whole_lines(tmp_path / "half") == 1
    assert (tmp_path / "half").read_text(encoding="utf-8") == "一\n"
