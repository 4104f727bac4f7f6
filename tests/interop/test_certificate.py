"""The certificate sees what it should see: agreement where there is some, and a difference where one was planted."""

import pytest
import torch

from clearformer.interop.certificate import TEXTS, Certificate, certify
from clearformer.interop.importer import read_hugging_face
from interop.folders import bert_folder, gpt2_folder


def test_a_faithful_import_agrees_layer_by_layer_and_word_by_word(tmp_path):
    gpt2_folder(tmp_path)
    found = certify(read_hugging_face(tmp_path).bundle, tmp_path)
    assert found.checked, found.reason
    assert "GPT2LMHeadModel" in found.reference
    assert max(*found.layers.values(), found.logits) < 1e-4
    assert len(found.greedy) == len(TEXTS)
    assert all(found.greedy)


def test_a_planted_mistake_shows_where_it_begins(tmp_path):
    bert_folder(tmp_path)
    made = read_hugging_face(tmp_path).bundle
    with torch.no_grad():
        made.model.encoder.layers[1].ffn.up_proj.bias += 0.5
    found = certify(made, tmp_path)
    by_place = list(found.layers.values())
    assert max(by_place[:2]) < 1e-4  # the front end and the first layer
    assert by_place[2] > 1e-2


@pytest.mark.parametrize("missing", ["config.json", "model.safetensors"])
def test_what_cannot_be_compared_is_said(tmp_path, missing):
    bert_folder(tmp_path)
    made = read_hugging_face(tmp_path).bundle
    (tmp_path / missing).unlink()
    found = certify(made, tmp_path)
    assert found.as_json() == {"checked": False, "reason": found.reason, "self_check": found.alone.as_json()}
    assert found.reason
    assert found.alone.padding < 1e-4


def test_as_json_names_the_reference():
    made = Certificate(checked=True, reference="r", layers={"encoder.layers.0.output": 1e-7}, logits=2e-7)
    assert made.as_json()["largest_difference"] == {"encoder.layers.0.output": 1e-7, "logits": 2e-7}


def test_a_difference_is_a_fault_and_rounding_is_none(tmp_path):
    bert_folder(tmp_path)
    made = read_hugging_face(tmp_path).bundle
    assert not certify(made, tmp_path).fault
    with torch.no_grad():
        made.model.encoder.layers[1].ffn.up_proj.bias += 0.5
    assert certify(made, tmp_path).fault.startswith("encoder.layers.1.output differs by")


@pytest.mark.parametrize("checked", [True, False])
def test_what_is_not_a_number_is_a_fault_with_and_without_a_reference(checked, tmp_path):
    gpt2_folder(tmp_path)
    made = read_hugging_face(tmp_path).bundle
    with torch.no_grad():
        made.model.decoder.layers[0].ffn.up_proj.bias.fill_(torch.nan)
    if not checked:
        (tmp_path / "model.safetensors").unlink()
    found = certify(made, tmp_path)
    assert found.checked == checked
    assert "not a number" in found.fault


def test_a_single_file_is_not_said_to_need_unpickling(tmp_path):
    bert_folder(tmp_path)
    (tmp_path / "model.gguf").write_bytes(b"")
    found = certify(read_hugging_face(tmp_path).bundle, tmp_path / "model.gguf")
    assert found.reason == "transformers is not asked about a single .gguf file"
