"""Measurements on disk."""

import pytest

from clearformer.lab.experiment import Measurement, Trial
from clearformer.lab.kept_results import KeptResults, usual_folder

TRIAL = Trial(scale="quick", seed=1, case="a")
MEASURED = Measurement(trial=TRIAL, values={"x": 0.1, "line": [1.0, 2.0]}, seconds=0.5)


@pytest.fixture
def kept(tmp_path):
    results = KeptResults(tmp_path)
    results.write("one", "key", MEASURED)
    return results


def test_what_was_written_is_read(kept):
    assert kept.read("one", "key", TRIAL) == MEASURED


def test_other_code_other_seeds_and_other_scales_are_other_measurements(kept):
    assert kept.read("one", "other", TRIAL) is None
    assert kept.read("two", "key", TRIAL) is None
    for other in ({"seed": 2}, {"scale": "full"}, {"case": "b"}):
        assert kept.read("one", "key", Trial(**{**vars(TRIAL), **other})) is None


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\xff\xfe", b'{"trial": {}, "values": 3}'])
def test_a_damaged_file_is_measured_again(kept, damage):
    [file] = (kept.folder / "one").glob("quick-*.json")
    file.write_bytes(damage)
    assert kept.read("one", "key", TRIAL) is None


def test_how_it_ended(kept):
    assert kept.last("one") is None
    kept.end("one", "holds", [MEASURED])
    last = kept.last("one")
    assert (last.verdict, last.scale, last.seeds, last.seconds) == ("holds", "quick", 1, 0.5)
    (kept.folder / "one" / "last.json").write_text('{"verdict": 1, "mood": 2}')
    assert kept.last("one") is None


def test_the_usual_place_is_the_user_s_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("CLEARFORMER_CACHE", str(tmp_path))
    assert usual_folder() == tmp_path / "lab"
