"""What boxes become on their way into training: refused or left out, held out, kept small."""

import json

import numpy as np
import pytest

from clearformer.data.readers.box_files import read_boxed
from clearformer.data.readers.boxes import BoxError
from clearformer.tasks.boxed_data import (
    BoxData,
    as_example,
    as_seen,
    box_shards,
    check_boxes,
    fingerprint,
    loaded,
    read_parts,
)
from clearformer.tasks.task import Workspace
from support.toy_boxes import KINDS, draw_many, write_coco


@pytest.fixture
def folder(tmp_path):
    write_coco(tmp_path, draw_many(20))
    return tmp_path


def spoil(folder, **changes):
    path = folder / "boxes.json"
    table = json.loads(path.read_text())
    table["annotations"][2].update(changes)
    path.write_text(json.dumps(table))


def test_some_are_held_out_and_nothing_is_in_both_parts(folder):
    train, dev, names = read_parts(BoxData(train="boxes.json", hold_out=100), folder)
    assert (len(train), len(dev), names) == (16, 4, KINDS)
    assert not {one.picture for one in train} & {one.picture for one in dev}
    train, dev, _ = read_parts(BoxData(train="boxes.json#train", dev="boxes.json#dev"), folder)
    assert not {one.picture for one in train} & {one.picture for one in dev}


def test_a_wrong_box_is_refused_or_left_out_as_the_recipe_says(folder, caplog):
    spoil(folder, bbox=[3, 3, 0, 5])
    some = read_boxed(folder)
    with pytest.raises(BoxError, match=r"object 3 .*is empty.*data\.faulty = \"leave-out\""):
        list(loaded(some, KINDS, faulty="refuse", channels=3))
    with caplog.at_level("INFO"):
        kept = list(loaded(some, KINDS, faulty="leave-out", channels=3, part="dev"))
    assert "dev: 1 box was left out" in caplog.text
    assert sum(len(one.names) for _, one in kept) == sum(len(one.names) for one in some) - 1


def test_a_picture_is_kept_small_with_its_boxes(folder):
    pixels, one = next(loaded(read_boxed(folder), KINDS, faulty="refuse", channels=3))
    flat, shape, boxes, labels = as_example(pixels, one, KINDS, most=30)
    assert shape.tolist() == [20, 30]
    assert len(flat) == 20 * 30 * 3
    np.testing.assert_allclose(boxes.reshape(-1, 4), one.boxes / 2)
    assert [KINDS[label] for label in labels] == list(one.names)
    _, shape, boxes, _ = as_seen(pixels, one, KINDS, size=32)
    assert shape.tolist() == [32, 32]
    np.testing.assert_allclose(boxes.reshape(-1, 4), one.boxes * np.array([32 / 60, 32 / 40] * 2), rtol=1e-6)


def test_shards_are_made_once_and_anew_for_other_boxes(folder, tmp_path):
    data = BoxData(train="boxes.json", size=32)
    space = Workspace(folder=tmp_path / "run", base=folder)
    some = read_boxed(folder)
    first = box_shards(data, space, some, KINDS, 3)
    made = first.folder.stat().st_mtime_ns
    again = box_shards(data, space, some, KINDS, 3)
    assert len(first) == len(again) == 20
    assert all((a == b).all() for a, b in zip(first[3], again[3], strict=True))
    assert again.folder.stat().st_mtime_ns == made
    before = fingerprint(some)
    spoil(folder, bbox=[3, 3, 9, 5])
    assert fingerprint(read_boxed(folder)) != before
    other = box_shards(data, space, read_boxed(folder), KINDS, 3)
    assert other.folder.stat().st_mtime_ns != made
    assert [3, 3, 12, 8] in np.concatenate([row[2].reshape(-1, 4) for row in other]).tolist()


def test_missing_files_are_refused_before_anything(folder):
    space = Workspace(folder=folder / "run", base=folder)
    check_boxes(BoxData(train="boxes.json#train", dev="boxes.json#dev"), space)
    with pytest.raises(ValueError, match=r"does not exist; data\.dev"):
        check_boxes(BoxData(train="boxes.json", dev="no.json"), space)
    with pytest.raises(ValueError, match="needs train"):
        check_boxes(BoxData(), space)


def test_data_without_a_box_is_refused(folder):
    path = folder / "boxes.json"
    table = json.loads(path.read_text())
    path.write_text(json.dumps({**table, "annotations": []}))
    with pytest.raises(BoxError, match="has no box: mark what is to be found"):
        read_parts(BoxData(train="boxes.json"), folder)
