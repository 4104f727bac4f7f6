"""The report a stranger reads, and the one a program reads."""

import json
from pathlib import Path

from clearformer.text.doctor.findings import Kind
from clearformer.text.doctor.findings_report import Notebook
from clearformer.text.doctor.pair_checks import Reason


def _notebook() -> Notebook:
    notebook = Notebook(examples=2)
    notebook.note(Kind.EDGE_SPACE, Path("a.en"), 7, text=" text")
    for line in (3, 5, 9):
        notebook.note(Kind.BLANK_TARGET, Path("a.de"), line, text="source\x07text")
    notebook.note(Kind.INVALID_UTF8, Path("a.de"), 4, "byte 0xff", "\udcff")
    return notebook


def test_the_worst_comes_first_and_everything_is_counted():
    report = _notebook().report({"a.en": 10, "a.de": 10}, kept=7, left_out={Reason.BLANK_TARGET: 3})
    assert list(report.counts.items()) == [(Kind.INVALID_UTF8, 1), (Kind.BLANK_TARGET, 3), (Kind.EDGE_SPACE, 1)]
    assert [finding.line for finding in report.of(Kind.BLANK_TARGET)] == [3, 5]
    assert report.fatal


def test_the_text_says_what_where_and_what_to_do():
    text = _notebook().report({"a.en": 10, "a.de": 10}, kept=7, left_out={Reason.BLANK_TARGET: 3}).to_text()
    assert "a.en: 10 lines, a.de: 10 lines" in text
    assert "7 of 10 kept for training; left out: 3 blank_target" in text
    assert "blank_target (3×): the target is blank but the source is not. Add the target or remove the pair." in text
    assert "    a.de:3: “source\\x07text”" in text
    assert "    … and 1 more" in text
    assert text.index("Stops training:") < text.index("Left out of training:") < text.index("For your information:")


def test_the_json_carries_the_same():
    report = _notebook().report({"a.en": 10, "a.de": 10}, kept=7, left_out={Reason.BLANK_TARGET: 3})
    data = json.loads(report.to_json())
    assert data["fatal"] is True
    assert (data["kept"], data["left_out"]) == (7, {"blank_target": 3})
    assert data["counts"] == {"invalid_utf8": 1, "blank_target": 3, "edge_space": 1}
    assert data["findings"][0] == {
        "kind": "invalid_utf8",
        "severity": "fatal",
        "file": "a.de",
        "line": 4,
        "detail": "byte 0xff",
        "excerpt": "\\xff",
        "remedy": Kind.INVALID_UTF8.remedy,
    }


def test_no_finding_is_said_too():
    report = Notebook(5).report({"a.txt": 3}, kept=3, left_out={})
    assert not report.fatal
    assert "Nothing suspicious was found." in report.to_text()
