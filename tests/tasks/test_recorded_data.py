"""Recordings for training: parts that do not overlap, samples that come back, rows by what a table says."""

import numpy as np
import pytest

from clearformer.data.shards import ShardWriter
from clearformer.tasks import recorded_data
from clearformer.tasks.recorded_data import SoundData, fits, frame_count, pack, split, unpack
from clearformer.text.train_tokenizer import train
from support.spoken import FACTS, RATE, say, write_beside, write_table

TOKENIZER = train("word", ["do re mi"] * 3, 20, min_frequency=1)


def names(examples):
    return {one.path.name for one in examples}


def test_held_out_recordings_are_not_learned_from(tmp_path):
    write_beside(tmp_path / "all", count=30)
    train_part, dev = split(SoundData(train="all", hold_out=0.2), tmp_path)
    assert not names(train_part) & names(dev)
    assert len(names(train_part) | names(dev)) == 30
    assert len(dev) == pytest.approx(6, abs=2)
    again = split(SoundData(train="all", hold_out=0.2), tmp_path)
    assert names(again.dev) == names(dev)


def test_the_same_recording_twice_stays_in_one_part(tmp_path):
    write_beside(tmp_path / "all", count=20)
    for number in range(20):
        (tmp_path / "all" / f"again{number}.wav").write_bytes((tmp_path / "all" / f"{number}.wav").read_bytes())
        (tmp_path / "all" / f"again{number}.txt").write_text("do", encoding="utf-8")
    train_part, dev = split(SoundData(train="all", hold_out=0.3), tmp_path)
    assert {name.removeprefix("again") for name in names(train_part)}.isdisjoint(
        {name.removeprefix("again") for name in names(dev)}
    )


def test_rows_say_who_is_the_test_and_who_is_development(tmp_path):
    write_table(tmp_path, count=12)
    data = SoundData(train="spoken.tsv", test_rows="speaker=a", dev_rows="file=wav/1.wav|wav/3.wav")
    parts = split(data, tmp_path)
    assert names(parts.dev) == {"1.wav", "3.wav"}
    assert names(parts.train) == {"5.wav", "7.wav", "9.wav", "11.wav"}
    with pytest.raises(ValueError, match="no recordings with a transcript for train"):
        split(SoundData(train="spoken.tsv", test_rows="speaker=a|b"), tmp_path)


@pytest.mark.parametrize("loud", [0.01, 0.5, 1.0, 3.0])
def test_samples_come_back(loud):
    sound = (loud * np.sin(np.arange(500) / 7)).astype(np.float32)
    found, tokens = unpack(pack(sound, np.array([4, 5])))
    np.testing.assert_allclose(found, sound, atol=1e-4 * max(loud, 0.2))
    assert tokens.tolist() == [4, 5]
    sixteen = np.arange(-32768, 32768, 97, dtype=np.float32) / 32768
    assert np.array_equal(unpack(pack(sixteen, np.array([1])))[0], sixteen)


def test_what_does_not_fit_is_left_out(tmp_path):
    sound = say("do")
    assert fits(sound, np.array([4]), FACTS)
    assert not fits(np.zeros(3 * RATE, dtype=np.float32), np.array([4]), FACTS)
    assert not fits(sound[:400], np.full(30, 4), FACTS)
    assert frame_count(len(sound), FACTS) == pytest.approx((len(sound) + 2 * FACTS.margin * RATE) / FACTS.hop, abs=2)
    write_table(tmp_path, count=3)
    long = recorded_data.read_part(SoundData(train="spoken.tsv"), tmp_path, "spoken.tsv")
    short = recorded_data.SoundFacts(**{**vars(FACTS), "seconds": 0.01})
    (tmp_path / "shards").mkdir()
    with (
        ShardWriter(tmp_path / "shards", recorded_data.COLUMNS) as writer,
        pytest.raises(ValueError, match=r"no recording has at most 0\.01 s and time for its text"),
    ):
        recorded_data.fill_shards(long, short, TOKENIZER, lambda done, total: None)(writer)


@pytest.mark.parametrize("wrong", [{"hold_out": 1.0}, {"sample_rate": 10}, {"mels": 2}, {"max_seconds": 0}])
def test_settings_out_of_bounds_are_named(wrong):
    with pytest.raises(ValueError, match=rf"data\.{next(iter(wrong))}"):
        SoundData(train="x", **wrong)


@pytest.mark.parametrize(
    ("longest", "seconds"),
    [(2.0, 2.5), (0.1, 1.0), (100.0, 8.0)],  # a quarter more than was learned from, a second at least, as was asked
)
def test_no_more_is_read_at_once_than_was_learned_from(longest, seconds):
    facts = recorded_data.SoundFacts(**{**vars(FACTS), "seconds": 8.0})
    assert recorded_data.read_at_once(facts, np.array([50, int(longest * RATE)])).seconds == pytest.approx(seconds)
