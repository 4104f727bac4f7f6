"""The training page."""

import os
import time

import pytest

from clearformer.foundation.locks import only_one
from clearformer.studio.runs import Runs
from clearformer.studio.shown_model import ShownModel
from clearformer.training.metrics_log import METRICS
from studio.browsing import BROWSER, choose, serving, settled

pytestmark = BROWSER


@pytest.fixture
def runs(tmp_path):
    """Four runs: one without a step that comes first by name, an old one, a newer one, and one that trains now."""
    then = time.time()
    ages = {"aaa": 10, "old": 9000, "recent": 5000, "training": 7000}
    for name, age in ages.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / ".lock").touch()
        record = (
            ""
            if name == "aaa"
            else '{"step": 3, "kind": "train", "loss": 1.5}\n{"step": 4, "kind": "train", "loss": 1}\n'
        )
        (tmp_path / name / METRICS).write_text(record, encoding="utf-8")
        os.utime(tmp_path / name / METRICS, (then - age, then - age))
    (tmp_path / "old" / "model").mkdir()
    (tmp_path / "old" / "model" / "config.json").write_text("{}", encoding="utf-8")
    with only_one(tmp_path / "training" / ".lock"):
        yield tmp_path


def test_the_newest_run_with_steps_is_shown_and_each_says_how_it_stands(page, bundles, runs):
    with serving(ShownModel(bundles["transformer"], "transformer"), Runs([runs])) as address:
        choose(page)
        page.goto(f"{address}/#/training")
        page.locator(".charts figure").first.wait_for()
        shown = [one.inner_text() for one in page.locator(".run").all()]
        assert [text.rsplit(" · ", 1)[1] for text in shown] == ["stopped", "finished", "stopped", "running"]
        checked = [one.inner_text() for one in page.locator(".run:has(input:checked)").all()]
        assert len(checked) == 1
        assert checked[0].startswith("recent")
        page.locator("#switch-language").click()
        settled(page)
        page.locator(".run").first.wait_for()
        assert [text.rsplit(" · ", 1)[1] for text in page.locator(".run").all_inner_texts()] == [
            "已停止", "已完成", "已停止", "进行中"
        ]  # fmt: skip
