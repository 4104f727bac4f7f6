"""A small encoder–decoder over sound in use: alone as in a batch, within its room, by greedy and by beam search."""

import pytest

from clearformer.inference.sound_token_writer import SoundTokenWriter
from clearformer.inference.transcription_settings import TranscriptionConfig
from support.spoken import FACTS, hearing, say

SOUNDS = [say("do", 1), say("re mi do", 2), say("mi mi", 3)]


@pytest.fixture(scope="module")
def writer():
    return SoundTokenWriter(hearing("encoder-decoder"), FACTS)


@pytest.mark.parametrize("beam", [1, 3])
def test_company_changes_nothing(writer, beam):
    config = TranscriptionConfig(beam=beam, max_new=6)
    together = writer.write(SOUNDS, config)
    for sound, found in zip(SOUNDS, together, strict=True):
        [alone] = writer.write([sound], config)
        assert alone.text == found.text
        assert alone.log_prob == pytest.approx(found.log_prob, abs=1e-4)


def test_a_beam_finds_what_is_at_least_as_likely(writer):
    for sound in SOUNDS:
        [greedy], [wide] = (writer.write([sound], TranscriptionConfig(beam=beam, max_new=4)) for beam in (1, 9))
        assert len(greedy.text.split()) <= 4
        assert wide.log_prob <= 0


def test_the_decoders_room_is_a_limit(writer):
    for one in writer.write(SOUNDS, TranscriptionConfig(max_new=1000)):
        assert len(one.text.split()) <= writer.longest - 2
