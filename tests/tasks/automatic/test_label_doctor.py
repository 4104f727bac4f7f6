"""The doctor of labelled texts: contradictions, repeats, misspelt labels and tiny classes, by line."""

import json
from pathlib import Path

from clearformer.data.readers.labelled import LabelledText
from clearformer.tasks.automatic.label_doctor import SHOWN, examine_labels

PATH = Path("table.csv")


def row(text, label, line, second=None):
    return LabelledText(text=text, second=second, label=label, line=line)


def sound(count=40):
    return [row(f"text number {n}", ("good", "bad")[n % 2], n + 2) for n in range(count)]


def test_sound_texts_have_nothing_wrong():
    report = examine_labels(PATH, sound())
    assert not report.fatal
    assert report.totals == {}
    assert report.counts == {"good": 20, "bad": 20}
    assert "40 texts in 2 classes" in report.to_text()
    assert "nothing wrong was found" in report.to_text()


def test_one_text_with_two_labels_names_both_lines():
    rows = [*sound(), row("Text  NUMBER 4", "bad", 99)]
    [finding] = examine_labels(PATH, rows).findings
    assert (finding.kind, finding.place) == ("the same text with two labels", "table.csv:99")
    assert finding.detail == "'bad' here, but 'good' on line 6; decide for one"


def test_a_text_again_is_said_and_a_pair_is_compared_whole():
    rows = [*sound(), row("text number 4", "good", 99)]
    [finding] = examine_labels(PATH, rows).findings
    assert (finding.kind, finding.detail) == ("a text that stands more than once", "as on line 6; it stays in one part")
    pairs = [*sound(), row("a", "good", 50, second="b"), row("a", "bad", 51, second="c")]
    assert examine_labels(PATH, pairs).totals == {}


def test_a_rare_label_like_a_common_one_may_be_misspelt():
    rows = [*sound(), row("something else", "goood", 77)]
    found = {finding.kind: finding for finding in examine_labels(PATH, rows).findings}
    assert found["a label that may be misspelt"].place == "table.csv:77"
    assert "'goood' occurs 1 times and 'good' 20 times" in found["a label that may be misspelt"].detail
    assert "'goood' has 1" in found["a class with few texts"].detail
    numbers = [row(f"t{n}", "10" if n else "100", n) for n in range(40)]
    assert "a label that may be misspelt" not in examine_labels(PATH, numbers).totals  # 10 and 100 are two stars


def test_a_single_class_cannot_be_trained_on():
    report = examine_labels(PATH, [row(f"t{n}", "good", n) for n in range(40)])
    assert report.fatal
    told = json.loads(report.to_json())
    assert told["fatal"]
    assert told["classes"] == {"good": 40}
    assert "there is only one label" in told["findings"][0]["detail"]


def test_many_findings_of_a_kind_are_counted_and_some_are_shown():
    rows = [*sound(), *(row(f"text number {n}", ("good", "bad")[n % 2], 100 + n) for n in range(30))]
    report = examine_labels(PATH, rows)
    assert report.totals == {"a text that stands more than once": 30}
    assert len(report.findings) == SHOWN
