"""Many pictures with their classes: folders and archives alike, and what happens to the ones that are damaged."""

import io
import tarfile
import zipfile

import numpy as np
import pytest
from PIL import Image

from clearformer.data.readers.picture_sets import Tolerance, class_folders, read_classes
from clearformer.data.readers.pictures import PictureError


def saved(folder, name, image, **options):
    image.save(folder / name, **options)
    return folder / name


def test_one_folder_for_each_class(tmp_path):
    """In the order of names; what is no picture, hidden or empty is passed over."""
    for name in ("dog", "cat", "empty", ".hidden", "notes"):
        (tmp_path / name).mkdir()
    for name in ("dog/2.PNG", "dog/1.jpg", "cat/a.png", ".hidden/x.png"):
        saved(tmp_path, name, Image.new("RGB", (2, 2)))
    (tmp_path / "notes" / "read-me.txt").write_text("no picture")
    (tmp_path / "cat" / "thumbs.db").write_bytes(b"no picture")
    assert [folder.name for folder in class_folders(tmp_path)] == ["cat", "dog"]
    found = list(read_classes(tmp_path, channels=1))
    assert [(one.label, one.path.rpartition("/")[2]) for one in found] == [
        ("cat", "a.png"), ("dog", "1.jpg"), ("dog", "2.PNG")
    ]  # fmt: skip
    assert all(one.pixels.shape == (2, 2, 1) for one in found)


def bytes_of(value, kind="png"):
    stream = io.BytesIO()
    Image.new("L", (4, 3), value).save(stream, kind)
    return stream.getvalue()


MEMBERS = {
    "train/cat/1.png": bytes_of(10), "train/cat/2.jpg": bytes_of(200, "jpeg"), "train/dog/._1.png": b"a note of a Mac",
    "train/dog/1.png": bytes_of(30), "train/list.txt": b"no picture",
}  # fmt: skip


def packed(path, members=MEMBERS):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return path
    with tarfile.open(path, "w:gz" if path.suffix in (".gz", ".tgz") else "w") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


@pytest.mark.parametrize("name", ["all.zip", "all.tar", "all.tar.gz", "all.tgz"])
def test_an_archive_is_read_as_the_folder_in_it(tmp_path, name):
    found = list(read_classes(packed(tmp_path / name)))
    assert [one.label for one in found] == ["cat", "cat", "dog"]
    assert [int(one.pixels.mean()) for one in found] == [10, 200, 30]
    assert found[2].path == f"{tmp_path / name}: train/dog/1.png"
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]  # nothing is written to disk


@pytest.mark.parametrize("name", ["all.zip", "all.tar", "all.tar.gz"])
@pytest.mark.parametrize("kept", [0.0, 0.3, 0.5])
def test_a_truncated_archive_is_named(tmp_path, name, kept):
    noise = np.random.default_rng(1).integers(0, 256, (40, 40), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(noise).save(stream, "png")
    path = packed(tmp_path / name, {f"c/{number}.png": stream.getvalue() for number in range(5)})
    path.write_bytes(path.read_bytes()[: int(kept * path.stat().st_size)])
    with pytest.raises(PictureError, match=rf"{name}(: c/\d\.png)? cannot be (unpacked|read)"):
        list(read_classes(path))


def test_an_archive_that_hides_much_in_little_is_refused(tmp_path, monkeypatch):
    """The library's own header says how much there is; it is believed only up to a limit."""
    monkeypatch.setattr("clearformer.data.readers.picture_sets.MOST_PACKED", 10_000)
    path = packed(tmp_path / "bomb.zip", {"c/zeros.png": bytes(20_000)})
    assert path.stat().st_size < 500
    with pytest.raises(PictureError, match=r"bomb\.zip: c/zeros\.png has 20,000 bytes, more than 10,000"):
        list(read_classes(path))


def test_a_picture_in_no_folder_has_no_class(tmp_path):
    with pytest.raises(PictureError, match=r"1\.png lies in no folder, so it has no class; put it into one"):
        list(read_classes(packed(tmp_path / "flat.zip", {"1.png": bytes_of(1)})))


def test_what_is_neither_folder_nor_archive_is_named(tmp_path):
    (tmp_path / "list.txt").write_text("a.png")
    for name in ("list.txt", "nowhere"):
        with pytest.raises(PictureError, match=rf"{name} is no folder of classes and no archive"):
            list(read_classes(tmp_path / name))
    with pytest.raises(PictureError, match=r"gone\.zip does not exist"):
        list(read_classes(tmp_path / "gone.zip"))


@pytest.mark.parametrize("packing", [None, "all.zip", "all.tar.gz"])
def test_damaged_pictures_stop_everything_or_are_left_out_by_name(tmp_path, packing):
    members = {**MEMBERS, **{f"train/cat/bad{number}.png": b"no picture" for number in range(7)}}
    if packing is None:
        for name, content in members.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(content)
        source = tmp_path / "train"
    else:
        source = packed(tmp_path / packing, members)
    with pytest.raises(PictureError, match=r"bad0\.png cannot be read as a picture"):
        list(read_classes(source))
    tolerance = Tolerance(unreadable="leave-out")
    assert tolerance.said() == ""
    assert [one.label for one in read_classes(source, tolerance=tolerance)] == ["cat", "cat", "dog"]
    assert tolerance.said().startswith("7 pictures were left out: ")
    assert all(f"bad{number}.png" in tolerance.said() for number in range(5))
    assert tolerance.said().endswith("; and 2 more")
