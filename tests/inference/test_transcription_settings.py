"""The options of a transcript have bounds."""

import pytest

from clearformer.inference.transcription_settings import TranscriptionConfig


def test_a_window_has_at_least_one_token():
    with pytest.raises(ValueError, match="max_new"):
        TranscriptionConfig(max_new=0)
