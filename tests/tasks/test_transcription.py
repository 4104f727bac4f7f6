"""Transcription: the record of a task that imported models are used for."""

import numpy as np
import pytest

import clearformer as cf
from clearformer.tasks.transcription import TASK
from support.every_kind import make


def test_a_recording_has_a_text(tmp_path):
    model = cf.load(make("whisper", tmp_path / "m"))
    assert isinstance(model, TASK.use)
    sound = np.sin(np.arange(1600) / 8).astype(np.float32)
    [found], [again] = (model.transcribe(sound, max_new=3) for _ in range(2))
    assert found == again
    assert TASK.verb.line(found) == found.text
    with pytest.raises(ValueError, match=r"a recording of 1\.0 s does not fit the model's 0\.2 s; cut it"):
        model.transcribe(np.zeros(16_000, dtype=np.float32))
