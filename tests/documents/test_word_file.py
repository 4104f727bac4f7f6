"""DOCX: runs keep their formatting, parts their bytes; entities, missing parts and broken XML are refused."""

from pathlib import Path

import pytest

from clearformer.documents.segments import DocumentError
from clearformer.documents.word_file import open_word_file
from support.document_structure import structure
from support.documents import packed, run, shouting, spoiling, translated, unpacked, word_package, written

BOLD = "<w:b/>"
PARAGRAPHS = (
    run("Hel") + run("lo ") + '<w:bookmarkStart w:id="0"/>' + run("world. ") + run("Two &amp; more."),
    run("This is ") + run("very", BOLD) + run(" good."),
    run("Name") + "<w:r><w:tab/></w:r>" + run("Place"),
    "<w:r><w:t>plain</w:t></w:r>" + "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>",
    "<w:r><w:instrText>PAGE</w:instrText></w:r>" + run("42"),
)


def test_what_is_text(tmp_path: Path):
    document = open_word_file(written(tmp_path / "a.docx", word_package(*PARAGRAPHS)))
    words = ["|".join(one.text for one in segment.pieces if one.kind == "words") for segment in document.segments]
    assert words == ["Hello world. Two & more.", "This is |very| good.", "Name", "Place", "plain"]
    assert document.place(document.segments[1]).endswith("a.docx/word/document.xml: paragraph 2")


def test_runs_that_look_the_same_are_one_text_and_formatting_stays(tmp_path: Path):
    path = written(tmp_path / "a.docx", word_package(*PARAGRAPHS))
    changed = unpacked(translated(path, shouting))
    assert ">hELLO WORLD. tWO &amp; MORE.</w:t>" in changed
    assert f'<w:r><w:rPr>{BOLD}</w:rPr><w:t xml:space="preserve">VERY</w:t></w:r>' in changed
    assert "<w:delText>gone</w:delText>" in changed
    assert "<w:instrText>PAGE</w:instrText>" in changed
    for ask in (shouting, spoiling):
        assert structure(path, translated(path, ask)) == structure(path, path.read_bytes())


def test_notes_headers_and_footers_are_read_and_other_files_are_not(tmp_path: Path):
    note = f'<w:ftr xmlns:w="{"http://schemas.openxmlformats.org/wordprocessingml/2006/main"}"><w:p>{run("foot")}</w:p></w:ftr>'
    path = written(
        tmp_path / "a.docx", word_package(run("text"), word__footer1_xml=note, docProps__core_xml="<a>stays</a>")
    )
    made = translated(path, shouting)
    assert "FOOT" in unpacked(made, "word/footer1.xml")
    assert unpacked(made, "docProps/core.xml") == "<a>stays</a>"


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', "document.xml:1 declares a document type"),
        ("<a>\n<b></a>", "document.xml:2 is no whole XML"),
        ("", "is no whole XML"),
    ],
)
def test_hostile_and_broken_documents_are_refused(tmp_path: Path, document: str, reason: str):
    path = written(tmp_path / "a.docx", word_package(word__document_xml=document))
    with pytest.raises(DocumentError, match=reason):
        open_word_file(path)


def test_a_package_without_its_main_part_is_refused(tmp_path: Path):
    path = written(tmp_path / "a.docx", packed({"[Content_Types].xml": "<a/>", "_rels/.rels": "<a/>"}))
    with pytest.raises(DocumentError, match=r"has no word/document.xml"):
        open_word_file(path)
