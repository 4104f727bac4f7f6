"""DINOv2 beside its published implementation: scaled parts, a gated feed-forward, registers."""

import pytest
import torch
import transformers as hf

from clearformer.interop.importer import read_hugging_face
from interop.hf.test_vit import VIT
from interop.references import check, reference

GIVEN = {key: value for key, value in VIT.items() if key != "intermediate_size"} | {"mlp_ratio": 2}


@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("kind", ["Dinov2ForImageClassification", "Dinov2Model"])
def test_agrees(kind, gated, tmp_path):
    check(reference(kind, hf.Dinov2Config(**GIVEN, use_swiglu_ffn=gated)), tmp_path)


@pytest.mark.parametrize("kind", ["Dinov2WithRegistersForImageClassification", "Dinov2WithRegistersModel"])
def test_agrees_with_registers(kind, tmp_path):
    check(reference(kind, hf.Dinov2WithRegistersConfig(**GIVEN, num_register_tokens=3)), tmp_path)


def test_registers_have_no_place_of_their_own(tmp_path):
    """They stand behind the class token, and the positions of the patches do not move for them."""
    reference("Dinov2WithRegistersModel", hf.Dinov2WithRegistersConfig(**GIVEN)).save_pretrained(tmp_path)
    front = read_hugging_face(tmp_path).bundle.model.encoder.front
    pictures = torch.randn(1, 3, 8, 8)
    x = front(pictures).x
    assert x.shape[1] == 1 + 4 + 4
    torch.testing.assert_close(x[:, 1:5], front.registers)
    torch.testing.assert_close(x[:, 5:], front.embed(pictures) + front.position.table.weight[1:])
