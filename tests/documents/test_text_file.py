"""Plain text keeps its lines: wrapped paragraphs are one text, lists and headings are not."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.documents.line_ends import lines_of
from clearformer.documents.segments import spliced
from clearformer.documents.text_file import open_text_file, wrapped_segments
from support.documents import shouting, shown, translated, written

TEXT = """\
A HEADING
=========

  This paragraph was wrapped at some width, so that
  its lines are one text. It has two sentences.\r
\t* an item of a list
\t* another one, at https://example.org/a.b
12.5  ---
"""


def test_paragraphs_items_and_rules(tmp_path: Path):
    document = open_text_file(written(tmp_path / "a.txt", TEXT))
    assert [shown(one.pieces) for one in document.segments] == [
        [("words", "A HEADING")],
        [
            ("words", "This paragraph was wrapped at some width, so that"),
            ("break", "\n  "),
            ("words", "its lines are one text. It has two sentences."),
        ],
        [("words", "an item of a list")],
        [("words", "another one, at https://example.org/a.b")],
    ]


def test_every_byte_that_is_no_text_stays(tmp_path: Path):
    path = written(tmp_path / "a.txt", b"\xef\xbb\xbf" + TEXT.encode())
    assert translated(path) == path.read_bytes()
    changed = translated(path, shouting).decode("utf-8-sig")
    assert (
        "  tHIS PARAGRAPH WAS WRAPPED AT SOME WIDTH, SO THAT\n  ITS LINES ARE ONE TEXT. iT HAS TWO SENTENCES.\r\n"
        in changed
    )
    assert "\t* ANOTHER ONE, AT https://example.org/a.b\n12.5  ---\n" in changed


def test_a_sentence_per_line_stays_so(tmp_path: Path):
    """Two long lines that each end a sentence are wrapped text or not: the result is the same."""
    lines = ["The first sentence of this file is long enough.", "The second one is about as long as that, too."]
    path = written(tmp_path / "a.txt", "\n".join(lines))
    assert translated(path, shouting).decode().split("\n") == [line.swapcase() for line in lines]


@pytest.mark.parametrize("text", ["", "\n\n", " \t", "\r", "...\n"])
def test_files_without_words(tmp_path: Path, text: str):
    path = written(tmp_path / "a.txt", text)
    assert open_text_file(path).segments == ()
    assert translated(path, shouting) == text.encode()


@given(st.text(alphabet=st.sampled_from("abc .,-*\n\r\t1长。"), max_size=300))
def test_segments_cover_words_and_put_together_give_the_text(text: str):
    segments = list(wrapped_segments(text, lines_of(text)))
    assert spliced(text, segments, [one.pieces for one in segments]) == text
    outside = spliced(text, segments, [[] for _ in segments])
    assert not any(map(str.isalpha, outside))
