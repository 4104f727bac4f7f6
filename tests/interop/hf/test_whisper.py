"""Whisper beside its published implementation: 24 frames instead of thirty seconds."""

import pytest
import transformers as hf

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.whisper import read_config
from interop.references import BART, LIMIT, MELS, check, reference

WHISPER = {key: value for key, value in BART.items() if key != "max_position_embeddings"}
WHISPER |= {"num_mel_bins": MELS, "max_source_positions": 12, "max_target_positions": LIMIT}


def test_agrees(tmp_path):
    check(reference("WhisperForConditionalGeneration", hf.WhisperConfig(**WHISPER)), tmp_path)


def test_weighted_layers_are_refused():
    plain = {**WHISPER, "model_type": "whisper", "architectures": ["WhisperForConditionalGeneration"]}
    with pytest.raises(ValueError, match="use_weighted_layer_sum is True"):
        read_config(Keys(plain | {"use_weighted_layer_sum": True}))
