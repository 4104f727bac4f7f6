"""Every family that reads pictures at random places of its configuration space: the same numbers, there and back.

A few are drawn in every run, many in a soak: `python -m pytest -m soak tests/parity/test_drawn_pictures.py`.
"""

import json
import random
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hf
from transformers.models.bit.image_processing_pil_bit import BitImageProcessorPil

from clearformer.folder import bundle
from clearformer.interop.importer import import_checkpoint, read_hugging_face
from clearformer.interop.to_hugging_face import export
from interop.references import output
from parity.drawn_pictures import FAMILIES, drawn
from parity.test_drawn import ALTERED, SOAK, USUAL, alterations, apart
from support.altered_configs import verdict


@pytest.mark.parametrize("number", range(USUAL))
@pytest.mark.parametrize("family", FAMILIES)
def test_a_drawn_model_agrees(family, number, tmp_path):
    assert (problem := disagreement(drawn(family, number), tmp_path)) is None, problem


@pytest.mark.parametrize("family", FAMILIES)
def test_an_altered_key_of_a_drawn_model(family, tmp_path):
    theirs = drawn(family, 0)
    theirs.save_pretrained(tmp_path)
    every = list(alterations(json.loads((tmp_path / "config.json").read_text())))
    for name, altered, without in random.Random(family).sample(every, ALTERED):
        assert (problem := verdict(tmp_path, altered, without)) is None, f"{family}, {name}: {problem}"


@pytest.mark.soak
@pytest.mark.parametrize("number", range(USUAL, SOAK))
@pytest.mark.parametrize("family", FAMILIES)
def test_many_drawn_models_and_every_key(family, number, tmp_path):
    theirs = drawn(family, number)
    wrong = [] if (problem := disagreement(theirs, tmp_path)) is None else [problem]
    theirs.save_pretrained(tmp_path / "altered")
    for name, altered, without in alterations(json.loads((tmp_path / "altered" / "config.json").read_text())):
        if problem := verdict(tmp_path / "altered", altered, without):
            wrong.append(f"{name}: {problem}")
    assert not wrong, "\n".join([f"{family} {number}", *wrong])


@torch.no_grad()
def disagreement(theirs: Any, folder: Path) -> str | None:
    """Import and compare a batch and a single picture; export, open it there, and compare again."""
    theirs.save_pretrained(folder / "published")
    try:
        found = read_hugging_face(folder / "published").bundle
    except ValueError as error:
        return f"refused: {error}"
    size = theirs.config.image_size
    pictures = torch.randn(3, theirs.config.num_channels, size, size, generator=torch.Generator().manual_seed(1))
    expected, mine = output(theirs(pictures)), found.model.eval()
    if (gap := apart(mine(pictures), expected)) is not None:
        return gap
    if (gap := apart(mine(pictures[1:2]), expected[1:2])) is not None:
        return f"alone: {gap}"
    bundle.save(found, folder / "ours")
    export(folder / "ours", folder / "back")
    again, report = type(theirs).from_pretrained(folder / "back", output_loading_info=True)
    if any(report.values()):
        return f"exported with {report}"
    gap = apart(output(again.eval()(pictures)), expected)
    return None if gap is None else f"there and back: {gap}"


def test_positions_of_larger_pictures_are_interpolated_as_published(tmp_path):
    """DINOv2 was trained with 518 pixels and is used with 224: the folder says so in two files."""
    config = hf.Dinov2Config(
        hidden_size=8, num_hidden_layers=2, num_attention_heads=2, image_size=15, patch_size=3, num_labels=3
    )
    theirs = hf.Dinov2ForImageClassification(config).eval()
    torch.nn.init.normal_(theirs.dinov2.embeddings.position_embeddings)
    theirs.save_pretrained(tmp_path / "published")
    BitImageProcessorPil(size={"shortest_edge": 10}, crop_size={"height": 9, "width": 9}).save_pretrained(
        tmp_path / "published"
    )
    found = import_checkpoint(tmp_path / "published", tmp_path / "ours")
    assert found.config.front.picture == found.preprocessing.picture.size == 9
    assert "positions of 5×5 patches were interpolated to 3×3" in found.provenance["notes"][-1]
    assert found.provenance["certificate"]["checked"]
    pictures = torch.randn(2, 3, 9, 9, generator=torch.Generator().manual_seed(1))
    assert apart(found.model(pictures).detach(), theirs(pictures).logits.detach()) is None


def test_vit_has_positions_for_its_own_pictures_alone(tmp_path):
    config = hf.ViTConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=2, image_size=12, patch_size=3)
    hf.ViTModel(config).save_pretrained(tmp_path)
    BitImageProcessorPil(size={"shortest_edge": 10}, crop_size={"height": 9, "width": 9}).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="makes pictures of 9 × 9, and the model reads 12"):
        read_hugging_face(tmp_path)


def test_several_kinds_of_positions_at_once_are_refused(tmp_path):
    both = {"use_absolute_position_embeddings": True, "use_relative_position_bias": True}
    config = hf.BeitConfig(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=2, image_size=8, patch_size=4, **both
    )
    hf.BeitModel(config).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=r"several of use_absolute_position_embeddings.*one kind of positions"):
        read_hugging_face(tmp_path)
