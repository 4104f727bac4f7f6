"""Annotations of Pascal VOC; hostile XML is refused before anything in it happens."""

import time

import pytest

from clearformer.data.readers.archives import Folder
from clearformer.data.readers.boxes import BoxError
from clearformer.data.readers.voc import parse, read_annotation, read_annotations, read_list
from support.toy_boxes import draw_many, voc_xml, write_voc

XML = voc_xml("p.jpg", 60, 40, [("disc", (1, 2, 13, 14))])


def write(folder, text, name="p.xml"):
    content = text if isinstance(text, bytes) else text.encode()
    (folder / name).write_bytes(content)
    return read_annotation(Folder(folder), name)


def test_what_was_drawn_is_read(tmp_path):
    some = draw_many(10)
    write_voc(tmp_path, some)
    store = Folder(tmp_path)
    found = list(read_annotations(store, "Annotations"))
    assert [one.boxes.tolist() for one in found] == [[list(box) for box in drawn.boxes] for drawn in some]
    assert [list(one.names) for one in found] == [drawn.names for drawn in some]
    assert {one.size for one in found} == {(60, 40)}
    assert [one.picture for one in found][:2] == ["JPEGImages/p000.jpg", "JPEGImages/p001.jpg"]
    listed = [list(read_list(store, f"ImageSets/Main/{part}.txt")) for part in ("train", "val", "test")]
    assert [len(part) for part in listed] == [8, 1, 1]
    assert [one.place for part in listed for one in part] == [one.place for one in found]


def test_a_picture_beside_its_annotation_is_found_whatever_the_file_says_of_it(tmp_path):
    (tmp_path / "p.JPG").write_bytes(b"")
    (tmp_path / "other.png").write_bytes(b"")
    assert write(tmp_path, XML.replace("p.jpg", "C:\\photos\\other.png")).picture == "p.JPG"
    assert write(tmp_path, XML.replace("p.jpg", "../../etc/other.png"), "q.xml").picture == "other.png"


def test_a_list_that_names_a_picture_twice_is_refused(tmp_path):
    write_voc(tmp_path, draw_many(10))
    (tmp_path / "ImageSets" / "Main" / "train.txt").write_text("p000\n\np000 1\n")
    with pytest.raises(BoxError, match=r"train\.txt:3 names p000 a second time"):
        list(read_list(Folder(tmp_path), "ImageSets/Main/train.txt"))


def test_a_list_that_leads_elsewhere_is_refused(tmp_path):
    write_voc(tmp_path, draw_many(10))
    (tmp_path / "ImageSets" / "Main" / "train.txt").write_text("../../secret\n")
    with pytest.raises(BoxError, match=r"train\.txt:1 names '\.\./\.\./secret', which leads to another folder"):
        list(read_list(Folder(tmp_path), "ImageSets/Main/train.txt"))


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f'<!DOCTYPE a [<!ENTITY l0 "ha">{LAUGHS}]><annotation>&l9;</annotation>', "document type"),
        ('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><annotation>&x;</annotation>', "document type"),
        ('<!DOCTYPE annotation SYSTEM "http://localhost/a.dtd"><annotation/>', "document type"),
        ("<annotation>&unknown;</annotation>", "no whole XML file"),
        (XML[:60], "no whole XML file"),
        ("", "no whole XML file"),
        (b"\xff\xfe\x00", "no whole XML file"),
        ('<?xml version="1.0" encoding="klingon"?><annotation/>', "no whole XML file"),
        ("<html/>", "no annotation in the layout of Pascal VOC"),
        (XML.replace("<xmin>1<", "<xmin>left<"), r"object 1 \(disc\) has no number in <xmin>, but 'left'"),
        (XML.replace("<xmin>1<", "<xmin>1e999<"), r"object 1 \(disc\) has no number in <xmin>, but '1e999'"),
        (XML.replace("<xmin>1<", "<xmin>1e308<"), r"object 1 \(disc\) has no number in <xmin>, but '1e308'"),
        (XML.replace("<width>60<", "<width>nan<"), r"has no number in <width>, but 'nan'"),
        (XML.replace("<ymax>14</ymax>", ""), r"has no number in <ymax>, but None"),
        (XML.replace("<name>disc</name>", ""), "object 1 has no <name>"),
    ],
)
def test_hostile_and_broken_files_are_refused_by_name(tmp_path, text, why):
    before = time.process_time()
    with pytest.raises(BoxError, match=rf"p\.xml.*{why}"):
        write(tmp_path, text)
    assert time.process_time() - before < 1


def test_a_deep_file_is_read_or_refused_but_breaks_nothing():
    deep = b"<annotation>" + b"<a>" * 20_000 + b"</a>" * 20_000 + b"</annotation>"
    assert parse(deep, "deep.xml").tag == "annotation"
    with pytest.raises(BoxError, match=r"large\.xml has .* bytes, more than"):
        parse(b" " * (1 << 24) + b"<annotation/>", "large.xml")


def test_a_size_of_zero_is_no_size(tmp_path):
    assert write(tmp_path, XML.replace("<width>60</width>", "<width>0</width>")).size is None
