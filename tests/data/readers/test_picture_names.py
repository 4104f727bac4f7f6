"""The class of a picture by its folder, its own name, or a table; what has none is named."""

import tarfile
import zipfile

import numpy as np
import pytest
from PIL import Image

from clearformer.data.readers.picture_names import Classes, Naming
from clearformer.data.readers.picture_sets import read_classes
from clearformer.data.readers.pictures import PictureError

TABLE = "name\tspecies\nMaine_Coon_1\tcat\nbeagle_12.png\tdog\n"


@pytest.fixture(params=["folder", "zip", "tar"])
def source(request, tmp_path):
    """Two pictures, a mask of one of them, and a table."""
    folder = tmp_path / "pets"
    for name in ("images/Maine_Coon_1.png", "images/beagle_12.png", "masks/beagle_12.png"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.zeros((2, 2), dtype=np.uint8)).save(folder / name)
    (folder / "labels.tsv").write_text(TABLE)
    if request.param == "folder":
        return folder
    out = tmp_path / f"pets.{request.param}"
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if request.param == "zip":
        with zipfile.ZipFile(out, "w") as packed:
            for path in files:
                packed.write(path, path.relative_to(folder))
    else:
        with tarfile.open(out, "w") as packed:
            for path in files:
                packed.add(path, path.relative_to(folder))
    return out


def labels(source, **naming):
    return [one.label for one in read_classes(source, naming=Naming(**naming))]


def test_by_folder_by_name_and_by_table(source):
    assert labels(source) == ["images", "images", "masks"]
    assert labels(source, within="images") == ["images", "images"]
    assert labels(source, by="name", within="images") == ["Maine_Coon", "beagle"]
    assert labels(source, by="table", column="species", within="images") == ["cat", "dog"]


def test_what_the_table_does_not_have_is_named(source):
    with pytest.raises(PictureError, match=r"labels\.tsv has no column 'breed'; it has name, species"):
        labels(source, by="table", column="breed", within="images")
    with pytest.raises(PictureError, match=r"pets.* has no other\.csv, which should name the classes"):
        labels(source, by="table", column="species", table="other.csv")
    with pytest.raises(ValueError, match=r"a table of classes needs data\.column"):
        Naming(by="table")


def test_a_picture_without_a_row_is_named(tmp_path):
    (tmp_path / "labels.csv").write_text("name,kind\na,x\nempty,\n")
    classes = Classes(tmp_path, Naming(by="table", table="labels.csv", column="kind"))
    assert classes.of("any/where/a.png") == "x"
    for name in ("b.png", "empty.png"):
        with pytest.raises(PictureError, match=rf"{name} has no row in labels\.csv; add one, or remove the picture"):
            classes.of(name)
    (tmp_path / "labels.csv").write_bytes(b"name,kind\n\xff,x\n")
    with pytest.raises(PictureError, match=r"labels\.csv is not UTF-8"):
        Classes(tmp_path, Naming(by="table", table="labels.csv", column="kind"))


@pytest.mark.parametrize(
    ("name", "label"), [("Maine_Coon_12.jpg", "Maine_Coon"), ("cat-3.png", "cat"), ("7.png", "7"), ("dog.png", "dog")]
)
def test_a_name_without_its_number(tmp_path, name, label):
    assert Classes(tmp_path, Naming(by="name")).of(f"images/{name}") == label
