"""What is wrong with recordings: each kind of damage is found by file, and sound data has nothing to report."""

import json

import numpy as np
import pytest

from clearformer.data.readers.sounds import Recorded
from clearformer.tasks.automatic.recording_doctor import clipped_places, examine_recordings
from support.spoken import RATE, say, write_beside, write_table, write_wave


@pytest.fixture
def folder(tmp_path):
    return write_beside(tmp_path / "talk", count=24)


def test_sound_data_has_nothing_to_report(folder, tmp_path):
    usable, report = examine_recordings(folder)
    assert (len(usable), report.fatal, report.findings) == (24, False, {})
    assert "24 recordings with transcripts" in report.to_text()
    assert "nothing wrong was found" in report.to_text()
    assert report.rates == {RATE: 24}
    assert examine_recordings(write_table(tmp_path, count=24))[1].recordings == 24


def damage(folder, kind):
    """Break one thing; returns the file that should be named."""
    sound, text = folder / "x.wav", folder / "x.txt"
    text.write_text("do", encoding="utf-8")
    if kind == "a transcript without a recording":
        return text
    write_wave(sound, say("do"))
    if kind == "a recording without a transcript":
        text.unlink()
    elif kind == "an empty transcript":
        text.write_text(" \n", encoding="utf-8")
        return text
    elif kind == "silence":
        write_wave(sound, np.zeros(RATE, dtype=np.float32))
    elif kind == "clipped":
        write_wave(sound, np.clip(9 * say("do re mi"), -1, 1))
    elif kind == "cannot be read":
        sound.write_bytes(b"RIFF, but nothing more")
    elif kind == "shorter than":
        write_wave(sound, say("do")[:400])
    elif kind == "longer than":
        write_wave(sound, np.tile(say("do"), 200))
    elif kind == "another sample rate":
        write_wave(sound, say("do"), rate=16_000)
    elif kind == "the same recording again":
        sound.write_bytes((folder / "3.wav").read_bytes())
    elif kind == "too much text for its time":
        text.write_text("a sentence that nobody says in a fifth of a second, however much coffee", encoding="utf-8")
    return sound


KINDS = (
    "a transcript without a recording", "a recording without a transcript", "an empty transcript", "silence", "clipped",
    "cannot be read", "shorter than", "longer than", "another sample rate", "the same recording again",
    "too much text for its time",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_found_by_file(folder, kind):
    named = damage(folder, kind)
    usable, report = examine_recordings(folder)
    [(found, places)] = [one for one in report.findings.items() if one[0].startswith(kind)]
    assert str(named) in places[0]
    assert len(report.findings) == 1, report.findings
    assert (len(usable) == 24) == ("left out" in found)
    assert not report.fatal
    told = json.loads(report.to_json())
    assert told["counts"] == {found: 1}
    assert kind in report.to_text()


def test_a_table_names_lines(tmp_path):
    table = write_table(tmp_path, count=24)
    (tmp_path / "wav" / "5.wav").unlink()
    _, report = examine_recordings(table)
    assert report.findings == {"a transcript without a recording (left out)": [f"{table}, line 7: wav/5.wav"]}


def test_too_little_is_fatal(tmp_path):
    _, report = examine_recordings(write_beside(tmp_path, count=5))
    assert report.fatal
    assert "has 5 recordings with a transcript, but at least 20 are needed" in report.to_text()


def test_clipping_is_several_samples_in_a_row_at_the_limit():
    wave = np.array([0, 1, 1, 1, 1, 0, -1, -1, 0, 1, 0.5, -1, -1, -1, 0], dtype=np.float32)
    assert clipped_places(Recorded(wave, RATE)) == 2
    assert clipped_places(Recorded(np.zeros(2, dtype=np.float32), RATE)) == 0
