"""The doctor for pictures: every finding by its file, and nothing where nothing is wrong."""

import json

import numpy as np
import pytest
from PIL import Image

from clearformer.tasks.automatic.picture_doctor import examine_pictures, parts_of

CLASSES = ("cat", "dog")


def noise(seed, height=32, width=32):
    coarse = np.random.default_rng(seed).integers(0, 256, (5, 5, 3), dtype=np.uint8)
    return Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)


@pytest.fixture
def folder(tmp_path):
    """Twelve pictures of each of two classes."""
    for place, label in enumerate(CLASSES):
        (tmp_path / "pets" / label).mkdir(parents=True)
        for number in range(12):
            noise(100 * place + number).save(tmp_path / "pets" / label / f"{number}.png")
    return tmp_path / "pets"


def found(folder):
    """Kind and place of each finding, as JSON has them."""
    report = examine_pictures(folder)
    told = json.loads(report.to_json())
    places = {(one["kind"], one["place"].removeprefix(f"{folder}/")): one["detail"] for one in told["findings"]}
    assert all(place in report.to_text() and detail in report.to_text() for (_, place), detail in places.items())
    return places


def test_a_sound_folder_has_nothing_to_report(folder):
    report = examine_pictures(folder)
    assert not report.fatal
    assert report.counts == {"cat": 12, "dog": 12}
    assert report.to_text().splitlines()[0] == "24 pictures in 2 classes"
    assert report.to_text().endswith("nothing found")


def test_the_same_picture_in_two_classes_and_twice_in_one(folder):
    (folder / "dog" / "copy.png").write_bytes((folder / "cat" / "3.png").read_bytes())
    Image.open(folder / "cat" / "5.png").save(folder / "cat" / "again.jpg", quality=80)
    assert found(folder) == {
        ("the same picture in two classes", "dog/copy.png"): f"the same pixels as {folder}/cat/3.png of class cat; "
        "decide for one",
        ("a picture that stands more than once", "cat/again.jpg"): f"nearly the same as {folder}/cat/5.png; remove one",
    }


def test_the_same_picture_in_two_parts(folder, tmp_path):
    divided = tmp_path / "divided"
    divided.mkdir()
    folder.rename(divided / "train")
    (divided / "val" / "cat").mkdir(parents=True)
    noise(1000).save(divided / "val" / "cat" / "own.png")
    Image.open(divided / "train" / "cat" / "7.png").save(divided / "val" / "cat" / "seen.png")
    assert list(parts_of(divided)) == ["train", "dev"]
    assert found(divided) == {
        ("the same picture in two parts", "val/cat/seen.png"): f"the same pixels as {divided}/train/cat/7.png of the "
        "part train; remove one"
    }


def test_damage_and_files_that_are_no_pictures(folder):
    (folder / "cat" / "broken.png").write_bytes(b"no picture")
    (folder / "dog" / "phone.heic").write_bytes(b"another format")
    report = examine_pictures(folder)
    assert report.fatal
    places = found(folder)
    assert list(places) == [("cannot be read", "cat/broken.png"), ("left out", "dog/phone.heic")]
    assert "(it is no PNG, JPEG, BMP, GIF, WebP or TIFF): replace" in places["cannot be read", "cat/broken.png"]
    assert "convert it to PNG or JPEG" in places["left out", "dog/phone.heic"]


def test_a_class_with_three_pictures_and_a_single_class(folder, tmp_path):
    (folder / "owl").mkdir()
    for number in range(3):
        noise(500 + number).save(folder / "owl" / f"{number}.png")
    assert found(folder) == {("a class with few pictures", "owl"): "3 pictures to learn from; add some"}
    (tmp_path / "one").mkdir()
    (folder / "cat").rename(tmp_path / "one" / "cat")
    report = examine_pictures(tmp_path / "one")
    assert report.fatal
    assert report.findings[-1].kind == "nothing to tell apart"


def test_sizes_ratios_and_colours_unlike_the_others(folder):
    noise(700, 3, 3).save(folder / "cat" / "icon.png")
    noise(701, 30, 90).save(folder / "cat" / "banner.png")
    Image.new("RGB", (32, 32), "navy").save(folder / "dog" / "blue.png")
    assert set(found(folder)) == {
        ("far smaller than the others", "cat/icon.png"),
        ("long and narrow", "cat/banner.png"),
        ("of one colour", "dog/blue.png"),
    }


def test_many_findings_are_counted_and_some_are_shown(folder):
    for number in range(12):
        (folder / "dog" / f"copy{number}.png").write_bytes((folder / "cat" / f"{number}.png").read_bytes())
    report = examine_pictures(folder)
    assert report.totals == {"the same picture in two classes": 12}
    assert len(report.findings) == 5
