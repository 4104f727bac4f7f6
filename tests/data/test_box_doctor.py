"""The doctor names what is wrong with pictures and boxes, by file and object, and says when it is fatal."""

import json
import shutil

import pytest
from PIL import Image

from clearformer.data.box_doctor import examine_boxes
from clearformer.data.readers.box_files import read_boxed
from support.toy_boxes import draw_many, write_coco


@pytest.fixture
def data(tmp_path):
    """Thirty good pictures."""
    write_coco(tmp_path, draw_many(30))
    return tmp_path


def change(folder, edit):
    path = folder / "boxes.json"
    table = json.loads(path.read_text())
    edit(table)
    path.write_text(json.dumps(table))


def examine(folder, **parts):
    return examine_boxes(parts or {"train": read_boxed(folder)})


def test_good_data_has_no_findings(data):
    report = examine(data)
    assert not report.fatal
    assert not report.findings
    assert report.pictures == {"train": 30}
    assert sum(report.objects.values()) > 30
    assert report.to_text().splitlines()[-1] == "nothing found"


@pytest.mark.parametrize(
    ("bbox", "what"),
    [([5, 5, 0, 4], "is empty"), ([9, 5, -4, 4], "is swapped"), ([50, 5, 30, 4], "lies outside the picture")],
)
def test_wrong_boxes_are_named_and_can_be_left_out(data, bbox, what):
    change(data, lambda table: table["annotations"][3].update(bbox=bbox))
    report = examine(data)
    [finding] = report.findings
    assert what in finding.what
    assert "object 4" in finding.place
    assert not report.fatal
    assert f"{finding.place}: " in report.to_text()


def test_a_box_that_stands_twice_is_named(data):
    last = json.loads((data / "boxes.json").read_text())["annotations"][-1]
    change(data, lambda table: table["annotations"].append({**last, "id": 9999}))
    [finding] = examine(data).findings
    assert f"the same box as object {last['id']}" in finding.what  # by its number in the file, not in its picture


def test_missing_and_broken_pictures_are_fatal(data):
    (data / "images" / "003.png").unlink()
    whole = (data / "images" / "004.png").read_bytes()
    (data / "images" / "004.png").write_bytes(whole[: len(whole) // 2])
    report = examine(data)
    assert report.fatal
    assert [(one.kind, one.fatal) for one in report.findings] == [("picture", True), ("picture", True)]
    assert "its picture is missing" in report.findings[0].what
    assert report.findings[1].place.endswith("004.png")


def test_the_same_picture_in_two_parts_and_in_one(data):
    shutil.copy(data / "images" / "001.png", data / "images" / "002.png")
    all_of_it = read_boxed(data)
    report = examine(data)
    assert [one.kind for one in report.findings] == ["copy"]
    across = examine(data, train=all_of_it[:1] + all_of_it[2:], dev=all_of_it[1:2])
    assert "which is in the part train and not in dev" in across.findings[0].what


def test_a_picture_that_was_made_lighter_is_known(data):
    image = Image.open(data / "images" / "001.png").point(lambda value: min(255, value + 3))
    image.save(data / "images" / "002.png")
    found = read_boxed(data)
    report = examine(data, train=found[:1] + found[2:], test=found[1:2])
    [finding] = [one for one in report.findings if one.kind == "copy"]
    assert finding.what.startswith("nearly the same picture as")
    assert "in the part train and not in test" in finding.what


def test_rare_unlearned_and_nearly_equal_classes(data):
    change(data, lambda table: table["categories"].append({"id": 7, "name": "Disc"}))
    change(data, lambda table: [table["annotations"][n].update(category_id=7) for n in range(3)])
    report = examine(data)
    said = {one.place: one.what for one in report.findings}
    assert "only 3 boxes" in report.to_text()
    assert "capitals alone" in report.to_text()
    assert set(said) == {"class Disc", "class disc"}
    found = read_boxed(data)
    assert examine(data, train=found[5:], dev=found[:5]).fatal  # no training picture has a Disc


def test_small_empty_and_boxless_pictures(data):
    Image.new("RGB", (1, 1)).save(data / "images" / "001.png")
    change(data, lambda table: table["images"][0].update(width=1, height=1))
    change(data, lambda table: table.update(annotations=[a for a in table["annotations"] if a["image_id"] != 1]))
    kinds = [one.kind for one in examine(data).findings]
    assert kinds == ["small picture", "no box"]


def test_a_dot_is_pointed_out(data):
    change(data, lambda table: table["annotations"][0].update(bbox=[3, 3, 0.5, 0.5]))
    [finding] = examine(data).findings
    assert finding.kind == "tiny"
    assert "0.5 × 0.5 pixels of a picture of 60 × 40" in finding.what


def test_no_box_at_all_is_fatal_and_json_says_it(data):
    change(data, lambda table: table.update(annotations=[]))
    told = json.loads(examine(data).to_json())
    assert told["fatal"]
    assert told["findings"][-1]["kind"] == "class"


def test_many_findings_of_a_kind_are_counted(data):
    change(data, lambda table: [one.update(bbox=[1, 1, 0, 0]) for one in table["annotations"]])
    text = examine(data).to_text()
    assert text.count("is empty") <= 50
