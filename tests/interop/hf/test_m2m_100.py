"""M2M-100 and NLLB beside their published implementation."""

import pytest
import transformers as hf

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.m2m_100 import read_config
from interop.references import BART, check, reference

NO_DROPOUT = BART | {"attention_dropout": 0.0, "encoder_layerdrop": 0.0, "decoder_layerdrop": 0.0}


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("M2M100ForConditionalGeneration", {}),
        ("M2M100ForConditionalGeneration", {"scale_embedding": False, "pad_token_id": 2}),
        ("M2M100Model", {"activation_function": "gelu"}),
    ],
    ids=["as published", "another padding, after which positions begin", "without a head"],
)
def test_agrees(kind, more, tmp_path, monkeypatch):
    monkeypatch.setattr("interop.references.PAD", more.get("pad_token_id", 1))
    check(reference(kind, hf.M2M100Config(**NO_DROPOUT | more)), tmp_path)


def test_positions_begin_behind_the_padding():
    plain = {**BART, "model_type": "m2m_100", "architectures": ["M2M100ForConditionalGeneration"]}
    assert read_config(Keys(plain)).position.offset == 2
    with pytest.raises(ValueError, match="after whose number positions begin, not None"):
        read_config(Keys(plain | {"pad_token_id": None}))
