"""The end of a run writes what the model gets wrong beside it; tasks that cannot say that write nothing."""

import json

from clearformer.evaluation.report import ErrorReport, Mistake, confuse
from clearformer.run.ending import write_report
from clearformer.run.recipe import read_recipe
from clearformer.run.train import Watchers, train
from flows.tiny_tasks import TINY


def test_a_report_is_written_with_its_picture(tmp_path):
    labels = [f"kind {number:02}" for number in range(15)]
    mistake = Mistake(text="a", wanted="b", found="c", probability=0.5)
    report = ErrorReport(
        scores={"accuracy": 1.0}, confusion=confuse(zip(labels, labels, strict=True)), mistakes=[mistake]
    )
    write_report(report, tmp_path, "test")
    written = json.loads((tmp_path / "report.json").read_text())
    assert written["part"] == "test"
    assert len(written["confusion"]["labels"]) == 15  # all of them in the file, twelve in the picture
    drawn = (tmp_path / "confusion.svg").read_text()
    assert "(3 more classes)" in drawn
    assert "kind 11" in drawn
    assert "kind 12" not in drawn


def test_a_task_without_a_report_ends_without_one(tmp_path):
    path = TINY["language-model"](tmp_path)
    said = []
    recipe = read_recipe(path, ["training.steps=2"])
    train(recipe, tmp_path / "run", base=tmp_path, watchers=Watchers(report=said.append))
    assert said == []
    assert not (tmp_path / "run" / "report.json").exists()
