"""What a recipe names as pictures: one shape for all, and what is damaged stops the run or is counted."""

import logging
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from clearformer.data.augment import Changes
from clearformer.data.mixing import Mixing
from clearformer.tasks.picture_data import PictureData, made_from, read_parts

DATA = PictureData(train="all", hold_out=2)


@pytest.fixture
def folder(tmp_path):
    """Ten pictures of two classes, each of another size."""
    random = np.random.default_rng(1)
    for number in range(10):
        path = tmp_path / "all" / "ab"[number % 2] / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(random.integers(0, 256, (8 + number, 12, 3), dtype=np.uint8)).save(path)
    return tmp_path


def test_all_pictures_get_the_shape_of_the_first_or_the_one_that_was_chosen(folder):
    parts = read_parts(folder, DATA)
    assert (parts.shape.size, parts.shape.channels) == (8, 3)
    assert {one.pixels.shape for one in parts.train + parts.dev} == {(8, 8, 3)}
    chosen = read_parts(folder, replace(DATA, size=5, channels=1))
    assert {one.pixels.shape for one in chosen.train + chosen.dev} == {(5, 5, 1)}


def test_what_is_held_out_is_not_learned_from(folder):
    parts = read_parts(folder, DATA)
    names = [{one.path for one in part} for part in (parts.train, parts.dev)]
    assert [len(part) for part in names] == [8, 2]
    assert not names[0] & names[1]


def test_a_damaged_picture_stops_or_is_left_out_and_named(folder, caplog):
    (folder / "all" / "a" / "0.png").write_bytes(b"no picture")
    with pytest.raises(ValueError, match=r"0\.png cannot be read as a picture"):
        read_parts(folder, DATA)
    with caplog.at_level(logging.WARNING):
        parts = read_parts(folder, replace(DATA, unreadable="leave-out"))
    assert len(parts.train) + len(parts.dev) == 9
    assert "1 picture was left out" in caplog.text
    assert "0.png" in caplog.text


def test_where_every_picture_is_damaged_nothing_is_left(folder):
    for path in (folder / "all").rglob("*.png"):
        path.write_bytes(b"no picture")
    with pytest.raises(ValueError, match="all holds no pictures"):
        read_parts(folder, replace(DATA, unreadable="leave-out"))


def test_shards_know_the_files_that_they_were_made_from(folder):
    before = made_from(folder, DATA)
    assert len(before) == 10
    (folder / "all" / "a" / "0.png").write_bytes(b"another picture")
    changed = [one["name"] for one, other in zip(before, made_from(folder, DATA), strict=True) if one != other]
    assert changed == ["all/a/0.png"]


def test_augmentation_by_its_settings():
    data = replace(DATA, shift=2, flip=True, zoom=0.1, rotate=5, colour=0.2, erase=0.3, mixup=0.4, cutmix=1)
    assert data.changes == Changes(shift=2, flip=True, zoom=0.1, rotate=5, colour=0.2, erase=0.3)
    assert data.mixing == Mixing(mixup=0.4, cutmix=1)
    for wrong in ({"zoom": 2.0}, {"mixup": -1.0}, {"hold_out": 0}, {"channels": 2}, {"size": -1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            replace(DATA, **wrong)
