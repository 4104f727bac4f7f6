"""BART and mBART beside their published implementations."""

import pytest
import transformers as hf

from clearformer.interop.importer import read_hugging_face
from interop.references import BART, check, reference


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("BartForConditionalGeneration", hf.BartConfig(**BART)),
        ("BartForConditionalGeneration", hf.BartConfig(**BART, scale_embedding=True, activation_function="relu")),
        ("BartModel", hf.BartConfig(**BART)),
        ("MBartForConditionalGeneration", hf.MBartConfig(**BART)),
    ],
    ids=["bart", "scaled", "without a head", "mbart"],
)
def test_agrees(kind, config, tmp_path):
    check(reference(kind, config), tmp_path)


def test_stacks_of_different_width_are_refused(tmp_path):
    reference("BartModel", hf.BartConfig(**BART | {"decoder_ffn_dim": 64})).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="decoder_ffn_dim is 64, and only 48 is supported"):
        read_hugging_face(tmp_path)
