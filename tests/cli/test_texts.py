"""Where texts come from: words, a file, or standard input, and never from two of them."""

import io
from argparse import Namespace

import pytest

from clearformer.cli.texts import read_texts
from clearformer.cli.usage import UsageError


def test_words_are_taken_as_they_are():
    assert read_texts(Namespace(text=["a b", " "], input=None)) == ["a b", " "]


def test_only_a_line_feed_ends_a_line_and_blank_lines_are_no_texts(tmp_path, monkeypatch):
    content = "one\u2028still one\n\ntwo\n"
    (tmp_path / "texts").write_text(content)
    expected = ["one\u2028still one", "two"]
    assert read_texts(Namespace(text=[], input=tmp_path / "texts")) == expected
    monkeypatch.setattr("sys.stdin", io.StringIO(content))
    assert read_texts(Namespace(text=[], input=None)) == expected


def test_not_from_two_places(tmp_path):
    with pytest.raises(UsageError, match="not both"):
        read_texts(Namespace(text=["a"], input=tmp_path))
