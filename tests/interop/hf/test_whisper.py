"""Whisper beside its published implementation: 24 frames instead of thirty seconds."""

import pytest
import transformers as hf

from clearformer.interop.hf.whisper import read_config
from clearformer.interop.importer import read_hugging_face
from clearformer.interop.keys import Keys
from interop.references import BART, LIMIT, MELS, agree, reference

WHISPER = {key: value for key, value in BART.items() if key != "max_position_embeddings"}
WHISPER |= {"num_mel_bins": MELS, "max_source_positions": 12, "max_target_positions": LIMIT}


def test_agrees(tmp_path):
    theirs = reference("WhisperForConditionalGeneration", hf.WhisperConfig(**WHISPER))
    theirs.save_pretrained(tmp_path)
    found = read_hugging_face(tmp_path).bundle
    agree(found.model.eval(), theirs, found.config)
    agree(found.model.train(), theirs.train(), found.config)


def test_weighted_layers_are_refused():
    plain = {**WHISPER, "model_type": "whisper", "architectures": ["WhisperForConditionalGeneration"]}
    with pytest.raises(ValueError, match="use_weighted_layer_sum is True"):
        read_config(Keys(plain | {"use_weighted_layer_sum": True}))
