"""A browser, and a studio for it to open."""

import json

import pytest

from clearformer.studio.runs import Runs
from clearformer.studio.shown_model import ShownModel
from clearformer.training.metrics_log import METRICS
from studio.browsing import serving


@pytest.fixture
def page(browser):
    """A page that fails its test when something goes wrong in it unseen."""
    context = browser.new_context(viewport={"width": 1200, "height": 900}, accept_downloads=True)
    opened = context.new_page()
    opened.failures = []
    opened.on("pageerror", lambda error: opened.failures.append(str(error)))
    opened.on("console", lambda message: opened.failures.append(message.text) if message.type == "error" else None)
    yield opened
    failures = [
        text for text in opened.failures if "Failed to load resource" not in text
    ]  # refusals are shown in place
    context.close()
    assert failures == []


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory):
    """The record of a small run."""
    folder = tmp_path_factory.mktemp("runs") / "mine"
    folder.mkdir()
    train = [
        {"step": s, "kind": "train", "loss": 5 / s, "learning_rate": 0.1, "count": 10 * s, "time": s}
        for s in range(1, 30)
    ]
    validation = [{"step": s, "kind": "validation", "loss": 3.0, "bleu": s / 2, "sample_0": "a → b"} for s in (10, 20)]
    (folder / METRICS).write_text(
        "".join(json.dumps(record) + "\n" for record in [*train, *validation]), encoding="utf-8"
    )
    return folder


@pytest.fixture(scope="session")
def address(bundles, run_folder):
    with serving(ShownModel(bundles["transformer"], "transformer"), Runs([run_folder])) as found:
        yield found
