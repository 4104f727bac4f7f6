"""A line ends at LF and nowhere else."""

import gzip
import io
import logging

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clearformer.text import lines
from clearformer.text.lines import TextFileError, peek_lines, read_lines, read_stream


@given(texts=st.lists(st.text(st.characters(exclude_characters="\n\r\ufeff", exclude_categories=["Cs"]))))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_reading_gives_back_what_was_written(tmp_path, texts):
    path = tmp_path / "a.txt"
    path.write_bytes(b"".join(text.encode() + b"\n" for text in texts))
    assert list(read_lines(path)) == texts
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert list(read_lines(path)) == texts


def test_other_separators_do_not_end_a_line(tmp_path):
    path = tmp_path / "a.txt"
    text = "one\u2028two\u2029three\x85four\x0bfive\x0csix\rseven\x1ceight"
    path.write_text(text + "\nnext\n", encoding="utf-8", newline="")
    assert len(text.splitlines()) == 8  # what everybody else would count
    assert list(read_lines(path)) == [text, "next"]


def test_one_carriage_return_is_taken_off_and_said(tmp_path, caplog):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\r\ntwo\r\r\nthree\n")
    with caplog.at_level(logging.WARNING):
        assert list(read_lines(path)) == ["one", "two\r", "three"]
    assert "a.txt:3" in caplog.text
    assert "some lines end in CR LF" in caplog.text


def test_a_byte_order_mark_is_taken_off_the_first_line_only(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\n\xef\xbb\xbftwo\n")
    assert list(read_lines(path)) == ["one", "\ufefftwo"]


def test_the_last_line_needs_no_end(tmp_path):
    path = tmp_path / "a.txt"
    for content, expected in ((b"", []), (b"\n", [""]), (b"a", ["a"]), (b"a\n\nb", ["a", "", "b"])):
        path.write_bytes(content)
        assert list(read_lines(path)) == expected


def test_bad_bytes_stop_the_reader_with_file_line_and_offset(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"good\nbad \xff here\n")
    reader = read_lines(path)
    assert next(reader) == "good"
    with pytest.raises(TextFileError, match=r"a\.txt:2: bytes that are not UTF-8 \(byte 0xff at offset 9 of the file"):
        next(reader)


@pytest.mark.parametrize("content", [gzip.compress(b"text\n" * 1000)[:-9], gzip.compress(b"text\n")[:12]])
def test_a_damaged_archive_stops_the_reader(tmp_path, content):
    path = tmp_path / "a.gz"
    path.write_bytes(content)
    with pytest.raises(TextFileError, match=r"a\.gz:\d+: the compressed file is cut off or damaged"):
        list(read_lines(path))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(TextFileError, match=r"nowhere\.txt: the file cannot be read as text \(No such file"):
        list(read_lines(tmp_path / "nowhere.txt"))


def test_a_file_without_line_ends_does_not_fill_the_memory(tmp_path, monkeypatch):
    """A line past the limit is cut inside a character, and its rest is skipped up to the next line end."""
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 10)
    path = tmp_path / "a.txt"
    path.write_text("äääääääääääääääää\nshort\n", encoding="utf-8")
    assert list(read_lines(path)) == ["äääää", "short"]
    path.write_text("aääääääääääääääää\nshort\n", encoding="utf-8")
    assert list(read_lines(path)) == ["aääää", "short"]


def test_a_stream_is_read_as_a_file_is_and_named_in_messages(tmp_path, caplog):
    raw = "one\u2028still one\r\ntwo".encode()
    (tmp_path / "a.txt").write_bytes(raw)
    with caplog.at_level(logging.INFO):
        assert list(read_stream(io.BytesIO(raw), "standard input")) == list(read_lines(tmp_path / "a.txt"))
    ours = [message for message in caplog.messages if message.startswith("standard input")]
    assert ours == [
        "standard input:1: lines end in CR LF (Windows); the CR is removed. Convert with dos2unix to be sure."
    ]
    with pytest.raises(TextFileError, match=r"standard input:2: bytes that are not UTF-8 \(byte 0xff"):
        list(read_stream(io.BytesIO(b"one\n\xff\n"), "standard input"))


def test_a_table_may_end_its_lines_as_its_standard_says(tmp_path, caplog):
    for name, remarks in (("a.csv", 0), ("a.tsv", 0), ("a.txt", 1)):
        caplog.clear()
        (tmp_path / name).write_bytes(b"text,label\r\none,1\r\n")
        assert list(read_lines(tmp_path / name)) == ["text,label", "one,1"]
        assert len(caplog.messages) == remarks, name


def test_a_stream_gives_each_line_as_it_arrives():
    """Who types waits for an answer to the first line before the second is there."""

    class Typed(io.BytesIO):
        asked = 0

        def readline(self, size=-1):
            self.asked += 1
            return super().readline(size)

    typed = Typed(b"one\ntwo\n")
    assert next(read_stream(typed, "standard input")) == "one"
    assert typed.asked == 1


def test_a_look_at_a_file_reports_nothing(tmp_path, caplog):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntw\xffo\nthree\n")
    assert peek_lines(path, 2) == ["one", "tw\udcffo"]
    assert caplog.text == ""
    assert peek_lines(tmp_path / "nowhere", 2) == []
