"""Pictures beside masks as training data: what is held out, what the numbers are called, what does not fit."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from clearformer.data.readers.pictures import PictureError
from clearformer.folder.preprocessing import MaskFacts
from clearformer.tasks.mask_data import MaskData, check, held_of, masks_to_test, parts_of
from clearformer.tasks.task import Workspace
from support.discs import write_pairs


@pytest.fixture
def folder(tmp_path):
    return write_pairs(tmp_path / "cells", 10)


def flatten(folder, number=1):
    """Instances become one class."""
    for path in (folder / "masks").iterdir():
        mask = np.asarray(Image.open(path))
        Image.fromarray((mask > 0).astype(np.uint8) * number).save(path)
    return folder


def test_what_is_held_out_is_not_learned_from(folder, tmp_path):
    parts = parts_of(MaskData(train="cells"), tmp_path)
    assert (len(parts.train), len(parts.dev), parts.kind, parts.labels) == (8, 2, "instances", ("instance",))
    assert not {one.path for one in parts.train} & {one.path for one in parts.dev}
    assert len(parts_of(MaskData(train="cells", hold_out=1), tmp_path).dev) == 1
    whole = parts_of(MaskData(train="cells", dev="cells", classes=("cell",)), tmp_path)
    assert (len(whole.train), len(whole.dev), whole.labels) == (10, 10, ("cell",))


def test_classes_have_the_names_that_the_data_or_the_recipe_gives(folder, tmp_path):
    flatten(folder, 7)
    assert parts_of(MaskData(train="cells"), tmp_path).labels == ("0", "7")
    named = parts_of(MaskData(train="cells", classes=("ground", "cell")), tmp_path)
    assert (named.labels, named.numbers, named.kind) == (("ground", "cell"), (0, 7), "classes")
    (folder / "classes.txt").write_text("ground 0\ncell 7\nrare 9\n")
    listed = parts_of(MaskData(train="cells"), tmp_path)
    assert (listed.labels, listed.numbers) == (("ground", "cell", "rare"), (0, 7, 9))
    void = parts_of(MaskData(train="cells", void=0, classes=("cell", "rare")), tmp_path)
    assert void.numbers == (7, 9)
    with pytest.raises(ValueError, match=r"data.classes has 1 names, and the masks have 3 numbers \(0, 7, 9\)"):
        parts_of(MaskData(train="cells", classes=("cell",)), tmp_path)
    with pytest.raises(ValueError, match="names 2 classes, and instances have one name"):
        parts_of(MaskData(train="cells", kind="instances", classes=("a", "b")), tmp_path)


def test_numbers_become_places_and_strange_ones_are_refused_by_file(folder, tmp_path):
    flatten(folder, 7)
    parts = parts_of(MaskData(train="cells"), tmp_path)
    facts = MaskFacts(kind="classes", numbers=(0, 7))
    held = held_of(parts.train, 1, facts)
    assert {int(number) for mask in held.masks for number in np.unique(mask)} == {0, 1}
    assert int(held_of(parts.train, 3, facts).pixels[0].shape[2]) == 3
    without = held_of(parts.train, 1, MaskFacts(kind="classes", numbers=(7,), void=0))
    assert {int(number) for mask in without.masks for number in np.unique(mask)} == {0, 1}
    with pytest.raises(PictureError, match=r"\d\d.png: its mask has the number 7, and known are 0, 3"):
        held_of(parts.train, 1, replace(facts, numbers=(0, 3)))


def test_a_test_set_is_one_folder_or_archive(folder):
    facts = MaskFacts(kind="instances")
    assert len(masks_to_test([folder], 1, facts).masks) == 10
    with pytest.raises(ValueError, match="give one folder or archive"):
        masks_to_test([folder, folder], 1, facts)
    with pytest.raises(PictureError, match="nowhere does not exist"):
        masks_to_test([folder / "nowhere"], 1, facts)


def test_missing_data_is_named(folder, tmp_path):
    workspace = Workspace(folder=tmp_path / "run", base=tmp_path)
    check(MaskData(train="cells", dev="cells#dev"), workspace)
    with pytest.raises(ValueError, match=r"needs train: pictures beside masks"):
        check(MaskData(), workspace)
    with pytest.raises(ValueError, match=r"cell does not exist; data\.dev names it"):
        check(MaskData(train="cells", dev="cell#dev"), workspace)
    shutil.rmtree(folder / "masks")
    with pytest.raises(PictureError, match="cells holds no pictures beside masks"):
        parts_of(MaskData(train="cells"), tmp_path)


@pytest.mark.parametrize("change", [{"scale": 0.5}, {"invert": 2.0}, {"light": -1.0}, {"size": 0}, {"channels": 2}])
def test_numbers_that_cannot_be_are_refused(change):
    with pytest.raises(ValueError, match=f"data.{next(iter(change))}|data.light and data.{next(iter(change))}"):
        MaskData(train="cells", **change)
