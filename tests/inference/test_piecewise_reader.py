"""Long recordings in pieces: nothing is read twice, order and times are the recording's, batches change nothing."""

import numpy as np
import pytest

from clearformer.inference.piecewise_reader import PiecewiseReader
from clearformer.inference.transcript import SpokenWord
from clearformer.inference.transcription_settings import TranscriptionConfig
from clearformer.inference.written_piece import WrittenPiece
from support.spoken import FACTS, RATE, say


class Counting:
    """Writes how long a piece is."""

    def __init__(self):
        self.batches = []

    def write(self, sounds, config):
        self.batches.append(len(sounds))
        return [
            WrittenPiece(
                text=f"{len(one) / RATE:.2f}",
                log_prob=-1.0,
                words=(SpokenWord(start=0.0, end=len(one) / RATE, text=f"{len(one) / RATE:.2f}"),),
            )
            for one in sounds
        ]


def read(sounds, **changes):
    writer, heard = Counting(), []
    found = PiecewiseReader(writer, FACTS).read(
        sounds, TranscriptionConfig(**changes), lambda done, total: heard.append((done, total))
    )
    return found, writer.batches, heard


LONG = np.concatenate([say("do re mi do re mi", seed) for seed in range(4)])
SHORT = say("do")


def test_a_short_recording_is_one_piece_and_a_long_one_several():
    [short, long], batches, _ = read([SHORT, LONG])
    assert short.text == f"{len(SHORT) / RATE:.2f}"
    assert len(short.segments) == 1
    assert len(long.segments) > 1
    assert sum(batches) == len(short.segments) + len(long.segments)
    assert all(one.end - one.start <= FACTS.seconds for one in long.segments)
    assert [one.start for one in long.segments] == sorted(one.start for one in long.segments)
    assert long.segments[-1].end * RATE <= len(LONG)
    assert long.text == " ".join(one.text for one in long.segments)


def test_batches_change_nothing():
    assert read([SHORT, LONG, SHORT], batch=1)[0] == read([SHORT, LONG, SHORT], batch=16)[0]


def test_words_have_the_recordings_time_where_they_are_wanted():
    [found], _, _ = read([LONG], words=True)
    for segment in found.segments:
        [word] = segment.words
        assert (word.start, word.end) == (segment.start, segment.end)
    [without], _, _ = read([LONG])
    assert all(not segment.words for segment in without.segments)


def test_every_piece_is_told_with_its_recording():
    heard = []
    reader = PiecewiseReader(Counting(), FACTS)
    found = reader.read([SHORT, LONG], TranscriptionConfig(), on_piece=heard.append)
    assert [one.recording for one in heard] == [0] + [1] * len(found[1].segments)
    assert [(one.start / RATE, one.end / RATE) for one in heard[1:]] == [
        (pytest.approx(one.start, abs=1e-3), pytest.approx(one.end, abs=1e-3)) for one in found[1].segments
    ]


def test_progress_ends_with_all_of_it():
    _, _, heard = read([LONG], batch=1, skip_silence=False)
    assert heard == sorted(heard)
    assert heard[-1] == (len(LONG), len(LONG))
