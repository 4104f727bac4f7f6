"""From a published folder to ours: whole or not at all, with what was assumed and left aside written down."""

from dataclasses import replace

import pytest

from clearformer.folder import bundle
from clearformer.interop.hf import bert
from clearformer.interop.importer import import_checkpoint, read_checkpoint
from interop.folders import bert_folder, edit_json, gpt2_folder


def test_provenance_says_where_it_comes_from(tmp_path):
    bert_folder(tmp_path / "published")
    edit_json(tmp_path / "published" / "config.json", lambda plain: plain.pop("layer_norm_eps", None))
    made = import_checkpoint(tmp_path / "published", tmp_path / "ours")
    again = bundle.load(tmp_path / "ours")
    assert again.provenance == made.provenance
    assert again.provenance["imported_from"] == "published"
    assert "layer_norm_eps" in again.provenance["assumed"]
    assert again.provenance["certificate"]["checked"]


def test_the_family_may_be_said_where_the_file_does_not(tmp_path):
    gpt2_folder(tmp_path)
    edit_json(tmp_path / "config.json", lambda plain: plain.pop("model_type"))
    with pytest.raises(ValueError, match="model_type"):
        read_checkpoint(tmp_path)
    assert read_checkpoint(tmp_path, "gpt2").bundle.config.family == "gpt2"


def test_nothing_is_written_when_something_is_wrong(tmp_path):
    bert_folder(tmp_path / "published")
    edit_json(tmp_path / "published" / "config.json", lambda plain: plain.update(num_hidden_layers=3))
    with pytest.raises(ValueError, match="published"):
        import_checkpoint(tmp_path / "published", tmp_path / "ours")
    assert not (tmp_path / "ours").exists()


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "model.txt").write_text("hello")
    with pytest.raises(ValueError, match=r"model\.txt is not a folder"):
        read_checkpoint(tmp_path / "model.txt")


def test_a_model_that_does_not_agree_is_not_written(tmp_path, monkeypatch):
    """The folder is good and our reading of it is spoilt, as by a mistake in a family's file."""
    bert_folder(tmp_path / "published")
    right = bert.read_config
    monkeypatch.setattr(bert, "read_config", lambda keys: replace(right(keys), activation="relu"))
    with pytest.raises(
        ValueError, match=r"is not the published one: encoder\.layers\.0\.output differs by .*"
    ) as caught:
        import_checkpoint(tmp_path / "published", tmp_path / "ours")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "ours").exists()
