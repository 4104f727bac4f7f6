"""The doctor for masks: every kind of damage by its file, and nothing about data that is sound."""

import json
import shutil

import numpy as np
import pytest
from PIL import Image

from clearformer.tasks.automatic.mask_doctor import examine_masks
from support.discs import discs, write_pairs


@pytest.fixture
def folder(tmp_path):
    return write_pairs(tmp_path / "cells", 8)


def draw(path, values):
    Image.fromarray(values).save(path)


def found(report, kind):
    return [one for one in report.findings if one.kind == kind]


def test_sound_data_has_nothing_to_report(folder):
    report = examine_masks({"all": folder})
    assert not report.fatal
    assert (report.pictures, report.kind, report.shortest, report.channels) == (8, "instances", 24, 1)
    assert report.things == sum(len(np.unique(discs(n, count=1 + n % 4)[1])) - 1 for n in range(8)) == len(report.areas)
    assert report.to_text().endswith("nothing wrong was found")


def test_damage_stops_training_and_is_named(folder):
    draw(folder / "masks" / "00.png", np.zeros((5, 9), dtype=np.uint8))
    draw(folder / "masks" / "01.png", np.random.default_rng(1).integers(0, 255, (24, 24, 3)).astype(np.uint8))
    whole = (folder / "images" / "02.png").read_bytes()
    (folder / "images" / "02.png").write_bytes(whole[: len(whole) // 2])
    (folder / "images" / "03.png").unlink()
    (folder / "masks" / "04.png").unlink()
    report = examine_masks({"all": folder})
    assert report.fatal
    named = {kind: found(report, kind)[0] for kind in ("size", "colours", "unreadable")}
    assert named["size"].place.endswith("00.png")
    assert "9 × 5 and 24 × 24" in named["size"].detail
    assert named["colours"].place.endswith("01.png")
    assert named["unreadable"].place.endswith("02.png")
    assert found(report, "mask without picture")[0].place.endswith("masks/03.png")
    assert found(report, "picture without mask")[0].place.endswith("images/04.png")
    told = json.loads(report.to_json())
    assert told["fatal"] is True
    assert told["counts"]["size"] == 1


def test_doubts_do_not_stop_training(folder):
    empty = np.zeros((24, 24), dtype=np.uint8)
    draw(folder / "masks" / "00.png", empty)
    draw(folder / "masks" / "01.png", empty + 1)
    speck, scattered = empty.copy(), empty.copy()
    speck[4, 4], speck[10:15, 10:15] = 1, 2
    draw(folder / "masks" / "02.png", speck)
    scattered[2:8, 2:8], scattered[15:20, 15:20], scattered[2:8, 15:20] = 1, 1, 2
    draw(folder / "masks" / "03.png", scattered)
    shutil.copy(folder / "images" / "05.png", folder / "images" / "06.png")
    report = examine_masks({"all": folder})
    assert not report.fatal
    assert found(report, "empty mask")[0].place.endswith("00.png")
    assert found(report, "full mask")[0].place.endswith("01.png")
    assert "1 instances of 3 pixels or fewer (number 1)" in found(report, "specks")[0].detail
    assert "1 instances are in several pieces (number 1)" in found(report, "pieces")[0].detail
    [twice] = found(report, "repeated")
    assert twice.place.endswith("06.png")
    assert "with another mask" in twice.detail
    assert "specks: 1" in report.to_text()


def test_the_same_picture_in_two_parts_is_said(folder, tmp_path):
    other = write_pairs(tmp_path / "test", 2)
    report = examine_masks({"train": folder, "test": other})
    assert len(found(report, "repeated")) == 2
    assert "in another part (train and test), which makes the score too good" in report.findings[0].detail


def test_a_class_of_few_pictures_is_named(folder):
    for number in range(8):
        mask = (discs(number, count=2)[1] > 0).astype(np.uint8)
        draw(folder / "masks" / f"{number:02}.png", mask * (3 if number < 3 else 1))
    (folder / "classes.txt").write_text("ground\ncell\nunused\nrare\n")
    report = examine_masks({"all": folder})
    assert dict(report.counts) == {"ground": 8, "cell": 5, "unused": 0, "rare": 3}
    few = {one.place: one.detail for one in found(report, "few pictures")}
    assert few["rare"].startswith("only 3 pictures have this class")
    assert set(few) == {"rare", "unused"}


def test_nothing_at_all_is_said(tmp_path):
    for name in ("images", "masks"):
        (tmp_path / name).mkdir()
    with pytest.raises(ValueError, match="holds no pictures beside masks"):
        examine_masks({"all": tmp_path})
