"""The table of published models says what is needed to fetch each, and what it says is true."""

import re

import pytest

from clearformer.folder.bundle import load
from clearformer.foundation import settings
from clearformer.interop.get_model import get_model
from clearformer.interop.published import published_models
from clearformer.tasks import TASKS, name_task


def test_every_entry_is_pinned():
    models = published_models()
    assert {"minilm", "smollm2", "whisper-tiny-en"} <= models.keys()
    for name, model in models.items():
        package = model.package
        assert model.task in TASKS, name
        assert model.title, name
        assert model.licence, name
        assert re.fullmatch(r"[a-z0-9-]+==[0-9.]+", package.requirement), name
        assert re.fullmatch(r"[0-9a-f]{64}", package.sha256), name
        assert package.files, name
        assert all("/" not in file and not file.endswith(".py") for file in package.files), name
        assert ".." not in package.folder, name


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.parametrize("name", published_models())
def test_what_is_fetched_is_for_the_task_that_the_table_names(name, tmp_path, monkeypatch):
    monkeypatch.setenv("CLEARFORMER_CACHE", str(tmp_path))
    steps = []
    made = load(get_model(name, on_progress=lambda done, total: steps.append((done, total))))
    model = published_models()[name]
    task = name_task(made.task, settings.to_plain(made.config))
    assert model.task == ("conversation" if made.preprocessing.chat_template else task)
    assert made.provenance["imported_from"] == model.package.requirement
    assert steps[-1] == (model.package.size, model.package.size)
    assert [path.name for path in (tmp_path / "downloads").iterdir()] == [f".{name}.model.lock"]
