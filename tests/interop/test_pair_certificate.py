"""An imported pair is compared with the published program in every layer, and one that is another is not kept."""

import pytest
import torch
from safetensors.torch import load_file, save_file

from clearformer.folder import bundle
from clearformer.interop.certificate import certify
from clearformer.interop.importer import import_checkpoint
from clearformer.interop.pair_certificate import rows_of
from support.pair_folders import FAMILIES, LIMIT, published


@pytest.mark.parametrize("family", FAMILIES)
def test_every_layer_of_both_halves_is_compared(family, tmp_path):
    published(family, tmp_path / "theirs")
    found = import_checkpoint(tmp_path / "theirs", tmp_path / "ours")
    told = found.provenance["certificate"]
    assert told["checked"], told
    stack = {"clip": "decoder", "siglip": "encoder"}[family]
    named = [f"texts.{stack}.front.output", f"texts.{stack}.layers.1.output", "texts.vectors"]
    named += ["pictures.encoder.front.output", "pictures.encoder.layers.1.output", "pictures.vectors", "logits"]
    assert all(told["largest_difference"][name] < 1e-5 for name in named)
    assert len(told["greedy_equal"]) == 5
    assert all(told["greedy_equal"])


def test_another_model_is_a_fault(tmp_path):
    published("clip", tmp_path / "theirs")
    found = import_checkpoint(tmp_path / "theirs", tmp_path / "ours")
    weights = load_file(tmp_path / "theirs" / "model.safetensors")
    weights["vision_model.encoder.layers.1.mlp.fc1.bias"] += 1.0
    save_file(weights, tmp_path / "theirs" / "model.safetensors", metadata={"format": "pt"})
    assert certify(found, tmp_path / "theirs").fault.startswith("pictures.encoder.layers.1.output differs")


def test_texts_that_are_too_long_keep_their_end(tmp_path):
    published("clip", tmp_path / "theirs")
    found = bundle.load(_imported(tmp_path))
    rows = rows_of(found, ["a photo", "many words " * 30])
    assert rows.shape == (2, LIMIT)
    assert rows[1, -1] == found.tokenizer.eos_id == rows[0, -1]
    assert torch.equal(rows[0, 1:3], torch.tensor(found.tokenizer.encode("a photo", add_special=False).ids)[:2])


def _imported(folder):
    import_checkpoint(folder / "theirs", folder / "ours")
    return folder / "ours"
