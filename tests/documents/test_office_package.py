"""A package is written again with the same files in the same places; bombs and damage are refused by name."""

import io
import zipfile
from pathlib import Path

import pytest

from clearformer.documents import office_package
from clearformer.documents.office_package import open_package
from clearformer.documents.segments import DocumentError
from support.documents import packed, run, unpacked, word_package, written


def test_other_files_stay_bytes_order_and_dates(tmp_path: Path):
    data = word_package(run("a"), word__media__a="\x00\x01")
    package = open_package(written(tmp_path / "a.docx", data))
    made = package.with_files({"word/document.xml": b"<x/>"})
    before, after = (zipfile.ZipFile(io.BytesIO(one)).infolist() for one in (data, made))
    for name in ("filename", "date_time", "compress_type", "external_attr"):
        assert [getattr(one, name) for one in before] == [getattr(one, name) for one in after]
    assert unpacked(made) == "<x/>"
    assert unpacked(made, "word/media/a") == unpacked(data, "word/media/a")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"no zip", "is no .docx file"),
        (b"", "is no .docx file"),
        (packed({"a": "b"}), r"has no \[Content_Types\].xml and no _rels/.rels"),
        (word_package(run("a"))[:-30], "is no .docx file"),
    ],
)
def test_what_is_no_package_is_refused(tmp_path: Path, data: bytes, reason: str):
    with pytest.raises(DocumentError, match=reason):
        open_package(written(tmp_path / "a.docx", data))


def test_bombs_are_refused_before_they_are_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    bomb = written(tmp_path / "a.docx", word_package(run("a"), bomb=b"\0" * 3_000_000))
    assert bomb.stat().st_size < 10_000
    monkeypatch.setattr(office_package, "MOST_UNPACKED", 1_000_000)
    with pytest.raises(DocumentError, match="unpacks to more than"):
        open_package(bomb)
    monkeypatch.undo()
    monkeypatch.setattr(office_package, "MOST_OF_ONE", 1_000_000)
    with pytest.raises(DocumentError, match="bomb unpacks to more than 1,000,000 bytes"):
        open_package(bomb).read("bomb")


def test_a_damaged_file_inside_is_named(tmp_path: Path):
    data = bytearray(word_package(run("a" * 500)))
    place = data.index(b"word/document.xml") + 40
    data[place : place + 8] = b"\xff" * 8
    with pytest.raises(DocumentError, match=r"a.docx/word/document.xml is damaged"):
        open_package(written(tmp_path / "a.docx", bytes(data))).read("word/document.xml")
