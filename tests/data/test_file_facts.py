"""Facts about files: lines counted like a reader counts them, checksums of the bytes on disk."""

from __future__ import annotations

import gzip
import hashlib
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.data.file_facts import refuse_blank, scan


@given(st.lists(st.sampled_from([b"\n", b"\r", b"\x0b", b"\x85", b"a", b"\xe2\x80\xa8"])).map(b"".join))
def test_lines_end_at_line_feeds_only(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("scan") / "text"
    path.write_bytes(content)
    facts = scan(path)
    expected = content.split(b"\n")
    assert facts.lines == len(expected) - (expected[-1] == b"")
    assert facts.sha256 == hashlib.sha256(content).hexdigest()
    assert facts.bytes == len(content)


def test_gzip_counts_what_is_inside_and_hashes_what_is_outside(tmp_path):
    path = tmp_path / "text.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\nthree"))
    assert scan(path).lines == 3
    assert scan(path).sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_content_decides_what_is_gzip_not_the_name(tmp_path):
    (tmp_path / "plain.gz").write_bytes(b"one\ntwo\n")
    (tmp_path / "packed").write_bytes(gzip.compress(b"one\ntwo\n"))
    assert scan(tmp_path / "plain.gz").lines == scan(tmp_path / "packed").lines == 2


def test_a_torn_gzip_file_is_named(tmp_path):
    path = tmp_path / "text.gz"
    path.write_bytes(gzip.compress(os.urandom(10_000))[:5000])
    with pytest.raises(ValueError, match=r"text\.gz is not a whole gzip file"):
        scan(path)


def test_a_touched_file_is_no_longer_trusted(tmp_path):
    path = tmp_path / "text"
    path.write_text("one\n")
    facts = scan(path)
    assert facts.still_true_of(path)
    os.utime(path, ns=(0, facts.modified_ns + 1))
    assert not facts.still_true_of(path)


@pytest.mark.parametrize("content", [b"", b"\n \t\r\n", gzip.compress(b"\n\n")])
def test_a_file_without_anything_in_it_is_refused_by_name(tmp_path, content):
    (tmp_path / "full").write_bytes(b"\n" * (1 << 20) + b"a")  # what is there may come late
    (tmp_path / "void").write_bytes(content)
    refuse_blank([tmp_path, tmp_path / "full"])
    with pytest.raises(ValueError, match=r"void is empty; give a file that has the data"):
        refuse_blank([tmp_path / "full", tmp_path / "void"])
