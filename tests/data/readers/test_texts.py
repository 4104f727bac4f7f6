"""Texts alone: lines of text files and columns of tables, named or found; blank ones are passed over."""

import gzip

import pytest

from clearformer.data.readers.labelled import LabelledError, find_text
from clearformer.data.readers.texts import PlainText, is_table, read_documents, read_texts


def test_lines_of_a_text_file_plain_or_gzipped(tmp_path):
    content = "one, two\n\n  \nthree\tfour\n"
    (tmp_path / "book.txt").write_text(content)
    (tmp_path / "book.txt.gz").write_bytes(gzip.compress(content.encode()))
    for name in ("book.txt", "book.txt.gz"):
        assert [row.text for row in read_texts(tmp_path / name)] == ["one, two", "three\tfour"]


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("named.tsv", "label\ttext\n1\tsnow falls\n0\train falls\n", None),
        ("numbered.tsv", "1\tsnow falls\n0\train falls\n", None),
        ("numbered.tsv", "1\tsnow falls\n0\train falls\n", "2"),
        ("table.csv", 'label,body\n1,"snow falls"\n0,rain falls\n', None),
        ("rows.jsonl", '{"k": 1, "long": "snow falls"}\n{"k": 0, "long": "rain falls"}\n', "long"),
    ],
)
def test_a_column_of_a_table_is_named_or_found(tmp_path, name, content, text):
    (tmp_path / name).write_text(content)
    assert [row.text for row in read_texts(tmp_path / name, text=text)] == ["snow falls", "rain falls"]


def test_classes_come_along_where_they_are_named(tmp_path):
    (tmp_path / "t.tsv").write_text("a\t1\tsnow falls\nb\t0\t \nb\t0\train falls\n")
    assert list(read_texts(tmp_path / "t.tsv", text="3", label="2")) == [
        PlainText("snow falls", "1"),
        PlainText("rain falls", "0"),
    ]


def test_what_is_not_there_is_refused(tmp_path):
    (tmp_path / "t.tsv").write_text("label\ttext\n1\tsnow\n")
    with pytest.raises(LabelledError, match=r"t\.tsv has no column 'body'; it has label, text"):
        read_texts(tmp_path / "t.tsv", text="body")
    with pytest.raises(LabelledError, match=r"t\.tsv, line 2 has no column 'goods'; it has label, text"):
        list(read_texts(tmp_path / "t.tsv", label="goods"))
    (tmp_path / "empty.tsv").touch()
    with pytest.raises(LabelledError, match=r"empty\.tsv has no rows: give a table with a text in each"):
        find_text(tmp_path / "empty.tsv")
    (tmp_path / "book.txt").write_text("a line\n")
    with pytest.raises(LabelledError, match=r"book\.txt is no table, so it has no column 'text'; leave the name out"):
        read_texts(tmp_path / "book.txt", text="text")


def test_the_name_says_whether_a_file_is_a_table(tmp_path):
    names = ("a.CSV", "a.jsonl.gz", "wiki.train.tokens.gz", "a.txt")
    assert [is_table(tmp_path / name) for name in names] == [True, True, False, False]


def test_documents_are_what_stands_between_separators(tmp_path):
    path = tmp_path / "several.txt"
    path.write_text("one\n\ntwo\n <end> \nthree <end>\n<end>\n", encoding="utf-8")
    assert list(read_documents(path, separator="<end>")) == ["one\n\ntwo", "three <end>", ""]
    assert list(read_documents(path, separator="\n")) == ["one", "two\n <end> \nthree <end>\n<end>"]
    assert list(read_documents(path)) == ["one\n\ntwo\n <end> \nthree <end>\n<end>"]


def test_each_row_of_a_table_is_a_document_of_as_many_lines_as_it_likes(tmp_path):
    path = tmp_path / "several.jsonl"
    path.write_text('{"text": "one\\n\\ntwo"}\n{"text": "three"}\n', encoding="utf-8")
    assert list(read_documents(path, separator="\n")) == ["one\n\ntwo", "three"]
