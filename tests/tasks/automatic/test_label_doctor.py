"""The doctor of labelled texts: every fault is found at its line, and a clean table has none."""

import json
from pathlib import Path

import pytest

from clearformer.data.readers.labelled import LabelledText
from clearformer.tasks.automatic.label_doctor import examine_labels, examine_table

CLEAN = [LabelledText(f"text number {n}", None, ("good", "bad")[n % 2], n + 2) for n in range(40)]


def kinds(rows):
    return examine_labels(Path("a.csv"), rows).totals


def test_a_clean_table_has_nothing_wrong():
    report = examine_labels(Path("a.csv"), CLEAN)
    assert report.totals == {}
    assert report.counts == {"good": 20, "bad": 20}
    assert "nothing wrong" in report.to_text()
    assert not report.fatal


@pytest.mark.parametrize(
    ("row", "kind", "says"),
    [
        (LabelledText("Text  NUMBER 0", None, "bad", 99), "the same text with two labels", "'good' on line 2"),
        (LabelledText("text number 0 ", None, "good", 99), "a text that stands more than once", "as on line 2"),
        (LabelledText("another", None, "godo", 99), "a label that may be misspelt", "'good' 20 times"),
        (LabelledText("another", None, "Good", 99), "a label that may be misspelt", "'good' 20 times"),
        (LabelledText("another", None, "ugly", 99), "a class with few texts", "'ugly' has 1"),
    ],
)
def test_each_fault_is_found(row, kind, says):
    report = examine_labels(Path("a.csv"), [*CLEAN, row])
    [found] = [finding for finding in report.findings if finding.kind == kind]
    assert says in found.detail
    assert found.place in ("a.csv:99", "a.csv")
    assert json.loads(report.to_json())["counts"][kind] == 1
    assert says in report.to_text()


def test_pairs_are_the_same_only_together():
    rows = [*CLEAN, LabelledText("one", "two", "good", 50), LabelledText("one", "three", "bad", 51)]
    assert kinds(rows) == {}


def test_numbers_are_never_misspelt():
    rows = [LabelledText(f"text {n}", None, "10" if n == 0 else "1", n) for n in range(30)]
    assert "a label that may be misspelt" not in kinds(rows)


def test_a_single_class_stops_training():
    report = examine_labels(Path("a.csv"), [row for row in CLEAN if row.label == "good"])
    assert report.fatal
    assert "nothing to tell apart" in report.to_text()


def test_examples_are_few_and_counts_are_whole():
    rows = CLEAN + [LabelledText("the same", None, "good", 100 + n) for n in range(50)]
    report = examine_labels(Path("a.csv"), rows)
    assert report.totals["a text that stands more than once"] == 49
    assert len(report.findings) == 5


def test_every_gap_of_a_table_is_named_and_the_rest_is_examined(tmp_path):
    table = tmp_path / "a.csv"
    rows = [f"text number {n},{('good', 'bad')[n % 2]}" for n in range(40)]
    table.write_text("\n".join(["text,label", *rows[:20], "  ,bad", *rows[20:], "no label,", "text number 0,bad"]))
    report = examine_table(table)
    assert report.fatal
    assert report.totals == {"an empty text or label": 2, "the same text with two labels": 1}
    assert [finding.place for finding in report.findings] == [f"{table}:{line}" for line in (22, 43, 44)]
