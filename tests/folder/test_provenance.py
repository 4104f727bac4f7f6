"""A folder learns a fact about itself; its other files stay, and it is still whole."""

from pathlib import Path

import pytest

from clearformer.folder import bundle
from clearformer.folder.description import ModelFolder
from clearformer.folder.provenance import remember
from clearformer.foundation.storage import DamagedError
from support.toy_models import small


def test_a_fact_is_kept_beside_the_others(tmp_path: Path):
    bundle.save(small(), tmp_path / "model")
    before = (tmp_path / "model" / "model.safetensors").read_bytes()
    remember(tmp_path / "model", "one", [1.5])
    remember(tmp_path / "model", "two", {"a": "é"})
    folder = ModelFolder(tmp_path / "model")
    folder.verify()
    assert {"one": [1.5], "two": {"a": "é"}}.items() <= dict(folder.provenance).items()
    assert (tmp_path / "model" / "model.safetensors").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_damaged_folder_is_not_made_whole(tmp_path: Path):
    bundle.save(small(), tmp_path / "model")
    (tmp_path / "model" / "tokenizer.json").write_text("{}")
    with pytest.raises(DamagedError):
        remember(tmp_path / "model", "one", 1)
