"""From pictures beside masks to a recipe that parses: parts, links instead of copies, every choice with a reason."""

import shutil
import tomllib
import zipfile

import numpy as np
import pytest

from clearformer.foundation import settings
from clearformer.run import automatic
from clearformer.run.recipe import parse_recipe
from clearformer.tasks.automatic.mask_folders import AUTOMATIC, choose, example, find_parts, recognise
from support.discs import discs, write_pairs


@pytest.fixture
def folder(tmp_path):
    return write_pairs(tmp_path / "cells", 20)


def test_the_parts_share_no_picture_and_the_recipe_parses(folder, tmp_path):
    shutil.copy(folder / "images" / "05.png", folder / "images" / "06.png")  # the same picture under two names
    chosen = choose([folder], tmp_path / "run")
    parts = {
        part: {path.resolve().read_bytes() for path in (tmp_path / "run" / "data" / part / "images").iterdir()}
        for part in ("train", "dev", "test")
    }
    assert not parts["train"] & parts["dev"] | parts["train"] & parts["test"] | parts["dev"] & parts["test"]
    assert sum(map(len, parts.values())) == 19
    recipe = parse_recipe(tomllib.loads(settings.to_toml(chosen.recipe)), "made")
    assert (recipe.task, recipe.data.kind, recipe.data.size, recipe.data.channels) == (
        "segmentation",
        "instances",
        16,
        1,
    )
    assert all(choice.value and choice.reason for choice in chosen.choices)
    assert example(tmp_path / "run").startswith(str(tmp_path / "run" / "data" / "test"))
    assert "repeated: 1" in chosen.report


def test_folders_named_images_and_masks_are_no_two_classes(folder):
    found = automatic.recognise([folder])
    assert (found.task.name, found.words) == ("segmentation", "20 pictures beside masks")
    assert recognise([folder / "images"]) is None
    assert recognise([folder, folder]) is None
    assert recognise([folder / "images" / "00.png"]) is None


def test_parts_that_are_there_are_taken(folder, tmp_path):
    whole = tmp_path / "whole"
    for part in ("train", "val", "test"):
        shutil.copytree(folder, whole / part)
    assert list(find_parts(whole)) == ["train", "dev", "test"]
    chosen = choose([whole], tmp_path / "run")
    assert chosen.recipe["data"]["dev"] == str(whole / "val")
    assert "in another part" in chosen.report  # it says so, and trains
    assert recognise([whole]) == "pictures beside masks in 3 parts (train, dev, test)"


def test_archives_stay_where_they_are(folder, tmp_path):
    path = tmp_path / "cells.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for one in sorted(folder.rglob("*.png")):
            archive.write(one, one.relative_to(folder))
    chosen = choose([path], tmp_path / "run")
    assert chosen.recipe["data"]["train"] == f"{path}#train"
    assert recognise([path]) == "20 pictures beside masks"
    pixels, masks = zip(*(discs(seed) for seed in range(3)), strict=True)
    split = np.array(["train", "val", "test"])
    np.savez(tmp_path / "a.npz", images=np.stack(pixels)[..., 0], instances=np.stack(masks), split=split)
    assert recognise([tmp_path / "a.npz"]) == "pictures beside masks, as arrays"
    assert choose([tmp_path / "a.npz"], tmp_path / "two").recipe["data"]["kind"] == "instances"
    assert AUTOMATIC.name([path]) == "cells"
    (tmp_path / "other.zip").write_bytes(b"PK\x03\x04")
    assert recognise([tmp_path / "other.zip"]) is None


def test_damage_is_refused_by_name(folder, tmp_path):
    (folder / "masks" / "07.png").write_bytes(b"")
    with pytest.raises(ValueError, match=r"07\.png: "):
        choose([folder], tmp_path / "run")
