"""CoNLL files: tabs or spaces, three notations, plain or packed; what is wrong is named by file and line."""

import gzip
import os
from pathlib import Path

import pytest

from clearformer.data.readers.conll import ConllError, looks_like_conll, read_conll
from clearformer.text.lines import TextFileError

TEXT = "Ada\tB-PER\nLovelace\tI-PER\nsmiled\tO\n\nRome\tB-LOC\n"


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read(path, **options):
    return [(one.words, one.tags) for one in read_conll(path, **options)]


WANTED = [(("Ada", "Lovelace", "smiled"), ("B-PER", "I-PER", "O")), (("Rome",), ("B-LOC",))]


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        TEXT.replace("\t", " "),
        TEXT.replace("\t", "\tNN\t_\t"),  # the last column is the tag
        TEXT.replace("\n\n", "\n\n \n\t\n"),
        TEXT.replace("\n", "\r\n"),
        f"\n{TEXT}\n\n",
        TEXT.rstrip("\n"),
        f"-DOCSTART- -X- O O\n\n{TEXT}",
        TEXT.replace("I-PER", "E-PER").replace("B-LOC", "S-LOC"),
        gzip.compress(TEXT.encode()),
    ],
)
def test_the_same_sentences_however_they_are_written(tmp_path, text):
    assert read(write(tmp_path / "a.conll", text)) == WANTED


def test_a_word_may_hold_a_space_where_a_tab_separates(tmp_path):
    assert read(write(tmp_path / "a.conll", "New York\tB-LOC\n")) == [(("New York",), ("B-LOC",))]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Ada\tB-PER\nLovelace\n", r"a\.conll, line 2 has one column \('Lovelace'\)"),
        ("\n\nAda\tPER\n", r"a\.conll, line 3: 'PER' is no tag; write O, or B-"),
        ("Ada\tB-\n", r"a\.conll, line 1: 'B-' is no tag"),
        ("\tO\n", r"a\.conll, line 1 has a tag and no word"),
        ("a\tO\nAda\tI-PER\n", r"a\.conll, line 2: I-PER after O continues no entity; .* illegal = \"repair\""),
        ("a\tO\n\nAda\tI-PER\n", r"a\.conll, line 3: I-PER at the beginning of a sentence continues no"),
        ("a\tB-LOC\nAda\tE-PER\n", r"a\.conll, line 2: E-PER after B-LOC continues"),
    ],
)
def test_what_is_wrong_is_named_by_its_line(tmp_path, text, told):
    with pytest.raises(ConllError, match=told):
        read(write(tmp_path / "a.conll", text))


def test_bytes_that_are_no_text_are_refused_by_their_line(tmp_path):
    with pytest.raises(TextFileError, match=r"a\.conll.*2"):
        read(write(tmp_path / "a.conll", b"Ada\tB-PER\n\xff\xfe\tO\n"))


def test_repairs_are_told_by_their_lines(tmp_path):
    path = write(tmp_path / "a.conll", "a\tO\nAda\tI-PER\nL\tI-PER\n\n\tO\nRome\tI-LOC\n")
    first, second = read_conll(path, illegal="repair")
    assert first.tags == ("O", "B-PER", "I-PER")
    assert first.repaired == (2,)
    assert second.words == ("\ufffd", "Rome")
    assert second.repaired == (5, 6)
    assert (first.line, second.line) == (1, 5)


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("name", "sentences", "words", "entities", "repaired"),
    [
        ("wnut-17/train.conll.gz", 3394, 62_730, 1975, 0),
        ("wnut-17/dev.conll.gz", 1009, 15_733, 836, 0),
        ("broad-twitter/h.conll.gz", 2001, 29_480, 3368, 4),
        ("chinese/resume-ner/dev.bmes.gz", 463, 13_890, 1497, 0),
        ("chinese/weibo-ner/dev.conll.gz", 270, 14_509, 389, 0),
    ],
)
def test_real_files_have_what_their_descriptions_say(name, sentences, words, entities, repaired):
    rows = list(read_conll(Path(os.environ["CLEARFORMER_DATA"]) / name, illegal="repair"))
    assert len(rows) == sentences
    assert sum(len(row.words) for row in rows) == words
    assert sum(tag.startswith("B-") for row in rows for tag in row.tags) == entities
    assert sum(len(row.repaired) for row in rows) == repaired


def test_a_file_is_known_by_its_lines_and_prose_is_not_taken_for_tags(tmp_path):
    tagged = "Ada\tNNP\tB-PER\t3\nmet\tVB\tO\t3\n\n" * 6
    (tmp_path / "a.txt").write_text(tagged)
    assert looks_like_conll(tmp_path / "a.txt")
    assert [one.tags for one in read_conll(tmp_path / "a.txt")] == [("B-PER", "O")] * 6
    for number, prose in enumerate(
        ("a sonata in B-flat\n", "in B-flat\n" * 3, "one two\n" * 40, "a O\nb O\n" * 20, "")
    ):
        (tmp_path / f"{number}.txt").write_text(prose)
        assert not looks_like_conll(tmp_path / f"{number}.txt")
    assert not looks_like_conll(tmp_path)


def test_a_column_that_counts_the_words_is_not_taken_for_words(tmp_path):
    """As CoNLL-U and many exports have it. Numbers that do not count are words like any other."""
    counted = tmp_path / "counted.conll"
    counted.write_text("1\tAda\tB-PER\n2\tcame\tO\n\n1\tRome\tB-LOC\n")
    assert [row.words for row in read_conll(counted)] == [("Ada", "came"), ("Rome",)]
    numbers = tmp_path / "numbers.conll"
    numbers.write_text("1 NUM O\n2 NUM O\n4 NUM B-LOC\n")
    assert [row.words for row in read_conll(numbers)] == [("1", "2", "4")]
    two_columns = tmp_path / "two.conll"
    two_columns.write_text("1 O\n2 B-LOC\n")
    assert [row.words for row in read_conll(two_columns)] == [("1", "2")]
