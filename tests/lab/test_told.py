"""Findings as text and as data."""

import json

import pytest

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.catalogue import find_experiment
from clearformer.lab.experiment import MeasuredTable
from clearformer.lab.told import described, findings_data, findings_lines, table_lines


def test_columns_stand_below_one_another_in_chinese_too():
    table = MeasuredTable(
        title=Bilingual("t", "表"),
        columns=(Bilingual("a", "方案"), "b"),
        rows=[("x", 1), (Bilingual("y", "位置一"), 2)],
    )
    title, head, first, second = table_lines(table, "zh")
    assert (title, head, first, second) == ("表", "  方案    b", "  x       1", "  位置一  2")


@pytest.mark.parametrize(("language", "verdict"), [("en", "verdict: does not hold"), ("zh", "结论：不成立")])
def test_everything_is_told(found, language, verdict):
    _, findings = found("scaled-embeddings")
    text = "\n".join(findings_lines(find_experiment("scaled-embeddings"), findings, language))
    assert verdict in text
    assert "22.63" in text
    answer = find_experiment("scaled-embeddings").answer.said(language)
    assert "".join(answer.split()) in "".join(text.split())


def test_curves_are_told_as_sparklines(found):
    _, findings = found("learning-rate")
    text = "\n".join(findings_lines(find_experiment("learning-rate"), findings, "en"))
    assert "█" in text


def test_data_is_plain(found):
    _, findings = found("padding-mask")
    data = json.loads(json.dumps(findings_data(find_experiment("padding-mask"), findings, "en")))
    assert data["verdict"] == "does not hold"
    assert data["checks"][0]["high"] == 1e-4
    assert data["checks"][0]["state"] == "not met"
    assert described(find_experiment("padding-mask"), "zh")["last"] is None
