"""Layouts: which mask belongs to which picture, what stands alone, archives, and arrays with parts."""

import functools
import io
import operator
import shutil
import zipfile

import numpy as np
import pytest
from PIL import Image

from clearformer.data.readers.mask_sets import find_pairs, read_arrays, read_masked
from clearformer.data.readers.pictures import PictureError
from support.discs import discs, write_pairs


@pytest.fixture
def folder(tmp_path):
    return write_pairs(tmp_path / "cells", 5)


def same(found, count=5):
    assert len(found) == count
    for number, one in enumerate(found):
        pixels, mask = discs(number, count=1 + number % 4)
        assert (one.pixels == pixels).all()
        assert ((one.mask > 0) == (mask > 0)).all()


def test_two_folders_and_files_beside_each_other_are_the_same_data(folder, tmp_path):
    same(read_masked(folder)[0])
    flat = tmp_path / "flat"
    flat.mkdir()
    for path in (folder / "images").iterdir():
        shutil.copy(path, flat / path.name)
        shutil.copy(folder / "masks" / path.name, flat / f"{path.stem}_mask.png")
    found, layout = read_masked(flat)
    same(found)
    assert not layout.one_each


def test_one_file_for_each_instance_in_both_layouts(folder, tmp_path):
    bowl, split = tmp_path / "bowl", tmp_path / "split"
    for number, one in enumerate(read_masked(folder)[0]):
        image = folder / "images" / f"{number:02}.png"
        (split / "images").mkdir(parents=True, exist_ok=True)
        shutil.copy(image, split / "images" / image.name)
        for place in (bowl / image.stem / "masks", split / "masks" / image.stem):
            place.mkdir(parents=True)
            for instance in np.unique(one.mask[one.mask > 0]):
                Image.fromarray((one.mask == instance).astype(np.uint8) * 255).save(place / f"m{instance}.png")
        (bowl / image.stem / "images").mkdir()
        shutil.copy(image, bowl / image.stem / "images" / image.name)
    for place in (bowl, split):
        found, layout = read_masked(place)
        same(found)
        assert layout.one_each


def test_what_stands_alone_is_refused_by_name(folder):
    (folder / "masks" / "03.png").rename(folder / "masks" / "99.png")
    pairs = find_pairs(folder)
    assert [path.name for path in pairs.without_mask] == ["03.png"]
    assert [path.name for path in pairs.without_picture] == ["99.png"]
    with pytest.raises(PictureError, match=r"images/03.png has no mask: draw one"):
        read_masked(folder)
    (folder / "images" / "03.png").unlink()
    with pytest.raises(PictureError, match=r"masks/99.png is the mask of no picture"):
        read_masked(folder)


def test_a_zip_is_read_like_its_folder_and_names_itself(folder, tmp_path):
    path = tmp_path / "cells.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for one in sorted(folder.rglob("*.png")):
            archive.write(one, one.relative_to(folder))
    found, _ = read_masked(path)
    same(found)
    assert found[2].path == f"{path}: 02.png"
    parts = {part: [one.path for one in read_masked(f"{path}#{part}")[0]] for part in ("train", "dev", "test")}
    assert sorted(functools.reduce(operator.iadd, parts.values(), [])) == [one.path for one in found]
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("images/x.png", b"\x89PNG")
        archive.writestr("masks/x.png", b"\x89PNG")
    with pytest.raises(PictureError, match=r"cells.zip: images/x.png cannot be read as a picture"):
        read_masked(path)
    (tmp_path / "cut.zip").write_bytes(path.read_bytes()[:300])
    with pytest.raises(PictureError, match=r"cut.zip is not a whole zip file"):
        read_masked(tmp_path / "cut.zip")


def arrays(**changes):
    pixels, masks = zip(*(discs(seed) for seed in range(4)), strict=True)
    whole = {
        "images": np.stack(pixels)[..., 0],
        "instances": np.stack(masks),
        "split": np.array(["train", "train", "val", "test"]),
    }
    return {name: value for name, value in (whole | changes).items() if value is not None}


def test_arrays_say_which_part_a_picture_is_of(tmp_path):
    np.savez(tmp_path / "a.npz", **arrays())
    counts = {part: len(read_masked(f"{tmp_path / 'a.npz'}#{part}")[0]) for part in ("train", "dev", "test")}
    assert counts == {"train": 2, "dev": 1, "test": 1}
    assert len(read_arrays(tmp_path / "a.npz")) == 4
    assert read_arrays(tmp_path / "a.npz", "test")[0].path == f"{tmp_path / 'a.npz'}#3"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"images": None}, "has no arrays of the names images and instances"),
        ({"images": np.zeros((4, 24, 24))}, "should have images of bytes"),
        ({"instances": np.zeros((4, 24, 23), dtype=np.uint8)}, "should have images of bytes"),
        ({"instances": np.zeros((4, 24, 24))}, "instances that are no numbers"),
        ({"split": np.array(["train"])}, "1,\\) names of parts for 4 pictures"),
        ({"images": np.array([{}])}, "cannot be read as arrays"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(tmp_path, changes, said):
    np.savez(tmp_path / "a.npz", **arrays(**changes))
    with pytest.raises(PictureError, match=rf"a.npz.*{said}"):
        read_arrays(tmp_path / "a.npz")


def test_damaged_arrays_are_refused(tmp_path):
    held = io.BytesIO()
    np.savez(held, **arrays())
    for length in (0, 100, len(held.getvalue()) // 2):
        (tmp_path / "a.npz").write_bytes(held.getvalue()[:length])
        with pytest.raises(PictureError, match=r"a.npz cannot be read as arrays"):
            read_arrays(tmp_path / "a.npz")


def test_other_folders_are_not_taken_for_masks(tmp_path, folder):
    (tmp_path / "empty").mkdir()
    assert find_pairs(tmp_path / "empty") is None
    with pytest.raises(PictureError, match="empty holds no pictures beside masks"):
        read_masked(tmp_path / "empty")
    assert find_pairs(folder / "images") is None
    with pytest.raises(PictureError, match="names the part 'tset'"):
        read_masked(f"{folder}#tset")
    with pytest.raises(PictureError, match="nowhere does not exist"):
        read_masked(tmp_path / "nowhere")
