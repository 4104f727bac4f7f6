"""Whatever layout boxes are in, also inside an archive, the same comes out; parts share no picture."""

import shutil
import tarfile

import pytest

from clearformer.data.readers.box_files import boxes_there, find_layout, read_boxed
from clearformer.data.readers.boxes import BoxError
from support.toy_boxes import draw_many, write_coco, write_voc


def marks(found):
    return sorted((one.names, one.boxes.tolist()) for one in found)


def test_all_layouts_give_the_same(tmp_path):
    some = draw_many(10)
    coco = write_coco(tmp_path / "coco", some)
    voc = write_voc(tmp_path / "voc", some)
    with tarfile.open(tmp_path / "voc.tar.gz", "w:gz") as tar:
        tar.add(voc, "voc")
    expected = marks(read_boxed(coco))
    assert len(expected) == 10
    for place in (coco.parent, voc, tmp_path / "voc.tar.gz", tmp_path / "voc.tar.gz" / "voc"):
        assert marks(read_boxed(place)) == expected
    inside = tmp_path / "voc.tar.gz" / "voc" / "ImageSets" / "Main" / "val.txt"
    assert boxes_there(inside)
    assert marks(read_boxed(inside)) == marks(read_boxed(voc / "ImageSets/Main/val.txt"))
    assert (find_layout(coco.parent), find_layout(coco), find_layout(voc)) == ("COCO JSON", "COCO JSON", "VOC XML")


def test_parts_share_no_picture_and_leave_none_out(tmp_path):
    some = draw_many(60)
    path = write_coco(tmp_path, [*some, some[0]])  # one picture twice
    parts = {part: read_boxed(f"{path}#{part}") for part in ("train", "dev", "test")}
    assert sum(map(len, parts.values())) == 61
    assert len(parts["train"]) > len(parts["test"]) > 0
    assert len(parts["dev"]) > 0
    own = {one.store.read(one.picture): part for part, found in parts.items() for one in found}
    for part, found in parts.items():
        assert {own[one.store.read(one.picture)] for one in found} == {part}


def test_what_is_no_data_set_is_refused(tmp_path):
    with pytest.raises(BoxError, match=r"holds no pictures with boxes"):
        read_boxed(tmp_path)
    path = write_coco(tmp_path, draw_many(2))
    with pytest.raises(BoxError, match=r"names the part 'half': known are train, dev, test"):
        read_boxed(f"{path}#half")
    shutil.copy(path, tmp_path / "again.json")
    with pytest.raises(BoxError, match=r"has several files of boxes .*name one of them"):
        read_boxed(tmp_path)
    assert find_layout(tmp_path / "images") is None
    assert not boxes_there(tmp_path / "no.json#train")
    assert boxes_there(f"{path}#train")
