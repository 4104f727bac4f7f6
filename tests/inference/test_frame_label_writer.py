"""Frame labels in use: alone as in a batch, and words where they were said."""

import numpy as np
import pytest
import torch

from clearformer.decoding.frame_labels import best_path, prefix_beam
from clearformer.inference.frame_label_writer import FrameLabelWriter
from clearformer.inference.transcription_settings import TranscriptionConfig
from support.spoken import FACTS, hearing, say

SOUNDS = [say("do", 1), say("re mi do", 2), say("mi mi", 3)]


@pytest.fixture(scope="module")
def writer():
    return FrameLabelWriter(hearing(), FACTS)


def test_alone_and_in_a_batch_the_frames_say_the_same(writer):
    together = writer.log_probs(SOUNDS)
    for sound, row in zip(SOUNDS, together, strict=True):
        [alone] = writer.log_probs([sound])
        assert alone.shape == row.shape
        np.testing.assert_allclose(alone, row, atol=1e-4)
        np.testing.assert_allclose(np.exp(row).sum(axis=1), 1, atol=1e-5)


def test_greedy_and_beam_are_those_of_the_decoder(writer):
    [row] = writer.log_probs(SOUNDS[1:2])
    [greedy] = writer.write(SOUNDS[1:2], TranscriptionConfig())
    [wide] = writer.write(SOUNDS[1:2], TranscriptionConfig(beam=8))
    assert greedy.text == writer.tokenizer.decode(best_path(row, writer.blank).tokens).strip()
    assert wide.log_prob == pytest.approx(prefix_beam(row, writer.blank, 8).log_prob)


def test_a_word_has_the_time_of_the_frames_that_say_it(writer, monkeypatch):
    """Frames that are sure: nothing for ten states, "do" for five, nothing for five, "re" for five, and nothing."""
    do, re = (writer.tokenizer.id(word) for word in ("do", "re"))
    labels = [writer.blank] * 10 + [do] * 5 + [writer.blank] * 5 + [re] * 5 + [writer.blank] * 15
    sure = np.full((40, writer.tokenizer.vocab_size), -20.0)
    sure[np.arange(40), labels] = -1e-6
    monkeypatch.setattr(writer, "log_probs", lambda sounds: [sure])
    [found] = writer.write([np.zeros(6400, dtype=np.float32)], TranscriptionConfig())
    assert found.text == "do re"
    assert found.tokens == (do, re)
    assert found.spans == ((10, 14), (20, 24))
    step, margin = 0.02, FACTS.margin  # a state each two hundredths of a second, behind the margin
    times = [(word.start, word.end) for word in found.words]
    assert times == [
        pytest.approx((10 * step - margin, 15 * step - margin)),
        pytest.approx((20 * step - margin, 25 * step - margin)),
    ]


def test_it_is_not_learning_anything_meanwhile(writer):
    before = {name: weight.clone() for name, weight in writer.model.state_dict().items()}
    writer.write(SOUNDS, TranscriptionConfig())
    assert all(torch.equal(before[name], weight) for name, weight in writer.model.state_dict().items())
