"""COCO's JSON: what was drawn is read, and what does not hold together is refused by number."""

import json

import pytest

from clearformer.data.readers.archives import Folder
from clearformer.data.readers.boxes import BoxError
from clearformer.data.readers.coco import looks_like, read_file
from support.toy_boxes import draw_many, write_coco


@pytest.fixture
def table(tmp_path):
    return json.loads(write_coco(tmp_path, draw_many(4)).read_text())


def read(folder, table):
    content = table if isinstance(table, bytes) else json.dumps(table).encode()
    (folder / "boxes.json").write_bytes(content)
    return list(read_file(Folder(folder), "boxes.json"))


def test_what_was_drawn_is_read(tmp_path, table):
    some = draw_many(4)
    found = read(tmp_path, table)
    assert [one.boxes.tolist() for one in found] == [[list(box) for box in drawn.boxes] for drawn in some]
    assert [list(one.names) for one in found] == [drawn.names for drawn in some]
    assert [one.picture for one in found] == [f"images/{n:03}.png" for n in range(1, 5)]
    assert found[1].object(0) == f"{tmp_path / 'boxes.json'}, object {len(some[0].names) + 1} ({some[1].names[0]})"


def test_pictures_without_boxes_stay_and_crowds_do_not(tmp_path, table):
    mine = [one for one in table["annotations"] if one["image_id"] == 2]
    for one in mine:
        one["iscrowd"] = 1
    assert [len(one.names) == 0 for one in read(tmp_path, table)] == [False, True, False, False]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            lambda t: t["annotations"][1].update(image_id=99),
            r"annotation 2 \(99\): of a picture that the file",
        ),
        (
            lambda t: t["annotations"][1].update(category_id=99),
            r"annotation 2 \(99\): of a category that the file",
        ),
        (lambda t: t["annotations"][0].update(bbox=[1, 2, 3]), "annotation 1 has no box of four numbers"),
        (lambda t: t["annotations"][0].update(bbox=["1", 2, 3, 4]), "annotation 1 has no box of four numbers"),
        (lambda t: t["annotations"][1].update(image_id=[1]), r"annotation 2 \(\[1\]\): of a picture"),
        (lambda t: t["annotations"][1].update(category_id={}), r"annotation 2 \({}\): of a category"),
        (lambda t: t["annotations"][0].update(bbox=[1, 2, 3, 10**400]), "annotation 1 has no box of four numbers"),
        (lambda t: t["annotations"][0].update(bbox=[1, 2, 3, float("nan")]), "annotation 1 has no box of four numbers"),
        (lambda t: t["annotations"].append(7), "annotation .*: of a picture"),
        (lambda t: t["images"][0].update(file_name="../../secret.png"), "image 1 leads out of its folder"),
        (lambda t: t["images"][0].update(file_name="/etc/secret.png"), "image 1 leads out of its folder"),
        (lambda t: t["images"][0].pop("file_name"), "image 1 has no file_name"),
        (lambda t: t["images"][1].update(id=1), "image 2 has the id 1 of another one"),
        (lambda t: t["images"].append({}), "image 5 has no id"),
        (lambda t: t.update(images={}), "not in COCO's layout"),
    ],
)
def test_what_does_not_hold_together_is_refused(tmp_path, table, change, why):
    change(table)
    with pytest.raises(BoxError, match=why):
        read(tmp_path, table)


def test_everything_unlisted_is_named_at_once(tmp_path, table):
    for one in table["annotations"]:
        one["category_id"] = 99
    count = len(table["annotations"])
    with pytest.raises(
        BoxError, match=rf"annotation 1 \(99\), .*annotation 5 \(99\) and {count - 5} more: of a category"
    ):
        read(tmp_path, table)


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe", b"[" * 200_000])
def test_files_that_are_none_are_refused_by_name(tmp_path, content):
    with pytest.raises(BoxError, match=r"boxes\.json is (no whole JSON file|not in COCO's layout)"):
        read(tmp_path, content)


def test_other_json_is_not_taken_for_boxes(table):
    assert looks_like(json.dumps(table).encode())
    assert not looks_like(json.dumps({"data": [{"paragraphs": []}]}).encode())
    assert not looks_like(b"[]")
