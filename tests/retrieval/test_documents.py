"""Files as documents: every word at its place, and a file that is no text named and left out, not guessed at."""

import gzip
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.retrieval.documents import UNITS, NotTextError, find_files, read_documents, read_text, split

TEXT = "# Dogs\n\nTwo dogs play.\r\nIn the snow.\n\n  Not cats.  \n"


@pytest.mark.parametrize("unit", UNITS)
@given(text=st.text(st.sampled_from("ab.#\n\r 雪\u2028"), max_size=80))
def test_a_document_stands_where_it_says(unit, text):
    found = list(split(text, "f", unit))
    for one in found:
        assert text[one.start : one.start + len(one.text)] == one.text == one.text.strip()
        assert one.line == 1 + text[: one.start].count("\n")
    assert "".join("".join(one.text for one in found).split()) == "".join(text.split()), "nothing is lost or doubled"


def test_what_a_document_is():
    assert [(one.line, one.text) for one in split(TEXT, "f", "line")] == [
        (1, "# Dogs"), (3, "Two dogs play."), (4, "In the snow."), (6, "Not cats.")
    ]  # fmt: skip
    assert [one.text for one in split(TEXT, "f", "file")] == [TEXT.strip()]
    assert [one.text for one in split(TEXT, "f", "passage")] == [TEXT.strip()]


def test_files_of_folders_each_once_without_hidden_ones_and_without_the_index(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("b.txt", "a.txt", ".hidden", "deep/c.txt", ".git/x", "idx/index.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "deep" / "up").symlink_to(tmp_path)
    found = find_files(["b.txt", "."], without=tmp_path / "idx")
    assert [str(one) for one in found] == ["b.txt", "a.txt", "deep/c.txt"]
    with pytest.raises(ValueError, match="there is no file or folder nowhere"):
        find_files(["nowhere"])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"MZ\0\x01", "is not text: it has a zero byte at offset 2"),
        (b"fine\ncaf\xe9\n", ":2 has the byte 0xe9, which is not UTF-8; save it as UTF-8"),
        (b"x \xed\xa0\x80 y", ":1 has the byte 0xed, which is not UTF-8"),
        ("x".encode("utf-16"), "begins like UTF-16; save it as UTF-8"),
        (gzip.compress(b"x" * 999)[:20], "is a damaged gzip file"),
    ],
)
def test_what_is_no_text_is_named_and_the_rest_is_read(tmp_path, content, reason, caplog):
    bad, good, empty = (tmp_path / name for name in ("bad", "good", "empty"))
    bad.write_bytes(content)
    good.write_text("two dogs")
    empty.write_text(" \n")
    with pytest.raises(NotTextError, match=reason):
        read_text(bad)
    assert [one.file for one in read_documents([bad, empty, good], "file")] == [str(good)]
    [first, second] = [record.getMessage() for record in caplog.records]
    assert first.startswith(f"left out: {bad}")
    assert reason in first
    assert second == f"left out: {empty} is empty"


def test_a_byte_order_mark_and_gzip_are_no_part_of_the_text(tmp_path):
    (tmp_path / "a").write_bytes(gzip.compress("\ufeff雪".encode()))
    assert read_text(tmp_path / "a") == "雪"


def test_a_name_that_is_not_utf8_is_left_out(tmp_path, caplog):
    (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("x")
    assert find_files([tmp_path]) == []
    assert r"caf\xe9.txt has a name that is not UTF-8" in caplog.text
