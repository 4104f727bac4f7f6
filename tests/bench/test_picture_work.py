"""The networks of the race over pictures: the same in both layouts, and a whole race of two libraries."""

from dataclasses import asdict
from pathlib import Path

import pytest
import torch

from clearformer.bench import picture_work
from clearformer.bench.contenders import benchmarks_folder, read_contenders
from clearformer.bench.picture_work import PictureShape, by_processor, picture_job
from clearformer.bench.programme import LIMITS, BenchSettings, Programme
from clearformer.bench.race import RaceReading, Turn
from clearformer.folder import bundle

SMALL = PictureShape(size=8, patch=4, dim=16, layers=1, heads=2, batch=2)


def test_both_layouts_are_the_same_network(tmp_path):
    from transformers import ViTForImageClassification

    job = picture_job(tmp_path, SMALL)
    assert job["shape"] == asdict(SMALL)
    ours = bundle.load(Path(job["model_folder"])).model.eval()
    theirs = ViTForImageClassification.from_pretrained(job["foreign_folder"]).eval()
    x = torch.randn(2, 3, 8, 8)
    with torch.inference_mode():
        torch.testing.assert_close(ours(x), theirs(pixel_values=x).logits, rtol=1e-4, atol=1e-5)
    assert picture_job(tmp_path, SMALL) == job  # made once


def test_processor_time_is_compared_by_the_median_of_turns():
    def turn(name, *seconds):
        readings = (
            RaceReading(case="a", unit="pictures", count=10, seconds=9, facts={"processor": s}) for s in seconds
        )
        return Turn(name=name, readings=tuple(readings))

    turns = [turn("ours", 1), turn("other", 3), turn("ours", 2), turn("other", 4), turn("ours", 9)]
    assert by_processor(turns, "a", "ours") == "by processor time: 1.71 × other"
    assert by_processor(turns, "b", "ours") == ""


@pytest.mark.slow
def test_the_libraries_that_are_here_race(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEARFORMER_CACHE", str(tmp_path))
    monkeypatch.setattr(picture_work, "SHAPES", (SMALL,))
    known = read_contenders(benchmarks_folder())
    run = Programme(benchmarks_folder(), known, BenchSettings(threads=1, seconds=0.05, repeats=1), lambda turn: None)
    run.pictures(["transformers-vit"])
    assert [table.case.rpartition(", ")[2] for table in run.results.tables] == ["training", "the network", "use"]
    for table in run.results.tables:
        assert {row.name for row in table.rows} == {"clearformer-vit", "transformers-vit"}
        assert [row.failure for row in table.rows] == [None, None]
        assert len({row.facts["parameters"] for row in table.rows}) == 1
        assert table.note.startswith("by processor time: ")
    assert LIMITS not in {row.name for table in run.results.tables for row in table.rows}
