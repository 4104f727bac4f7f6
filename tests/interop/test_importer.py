"""From a published folder to ours: whole or not at all, with what was assumed and left aside written down."""

from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file

from clearformer.folder import bundle
from clearformer.interop.hf import bert
from clearformer.interop.importer import import_checkpoint, read_checkpoint
from clearformer.interop.to_hugging_face import export
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


@pytest.mark.parametrize("kind", ["bfloat16", "float16"])
@pytest.mark.parametrize("folder", [gpt2_folder, bert_folder])
def test_two_bytes_stay_two_bytes_and_go_back_as_they_came(tmp_path, folder, kind):
    """They are compared with the published program in float32; what loads them for training has them in float32."""
    folder(tmp_path / "theirs")
    file = tmp_path / "theirs" / "model.safetensors"
    stored = {name: one.to(getattr(torch, kind)) for name, one in load_file(file).items()}
    save_file(stored, file, metadata={"format": "pt"})
    made = import_checkpoint(tmp_path / "theirs", tmp_path / "ours")
    assert made.provenance["certificate"]["checked"]
    again = bundle.load(tmp_path / "ours")
    assert made.kept == again.kept == kind
    assert (tmp_path / "ours" / bundle.WEIGHTS).stat().st_size < 1.2 * file.stat().st_size
    assert all(weight.dtype == torch.float32 for weight in again.model.parameters())
    export(tmp_path / "ours", tmp_path / "back")
    back = load_file(tmp_path / "back" / "model.safetensors")
    assert {name: back[name].dtype for name in stored} == {name: one.dtype for name, one in stored.items()}
    assert all(torch.equal(back[name], one) for name, one in stored.items())


def test_weights_are_rounded_or_widened_when_that_is_asked_for(tmp_path):
    gpt2_folder(tmp_path / "theirs")
    short = import_checkpoint(tmp_path / "theirs", tmp_path / "short", dtype="bfloat16")
    assert (short.kept, bundle.load(tmp_path / "short").kept) == ("bfloat16", "bfloat16")
    export(tmp_path / "short", tmp_path / "back")
    assert import_checkpoint(tmp_path / "back", tmp_path / "wide", dtype="float32").kept == "float32"
