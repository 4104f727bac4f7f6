"""Recordings beside their transcripts: folders, tables and archives give the same, and gaps are named."""

import tarfile

import numpy as np
import pytest

from clearformer.data.readers.sounds import SoundError
from clearformer.data.readers.tables import LabelledError
from clearformer.data.readers.transcribed import (
    ArchiveShelf,
    choose_rows,
    find_sound_columns,
    read_entries,
    read_transcribed,
)
from support.spoken import RATE, say, texts, write_beside, write_table, write_wave


def heard(examples):
    return [(one.text, one.read().rate, one.digest()) for one in examples]


def test_a_folder_a_table_and_an_archive_hold_the_same(tmp_path):
    table = write_table(tmp_path, count=5)
    with tarfile.open(tmp_path / "all.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "wav", "somewhere/wav")
    by_table = list(read_transcribed(table))
    by_archive = list(read_transcribed(table, recordings=tmp_path / "all.tar.gz", file="file", text="text"))
    beside = list(read_transcribed(write_beside(tmp_path / "beside", count=5)))
    assert heard(by_table) == heard(beside)
    assert [one.text for one in by_table] == texts(5)
    np.testing.assert_allclose(by_table[0].read().samples, say(texts(1)[0], seed=0), atol=1e-4)
    assert [one.text for one in by_archive] == texts(5)
    assert by_table[0].row["speaker"] == "a"


def test_an_archive_finds_by_name_alone_and_refuses_what_is_none(tmp_path):
    write_table(tmp_path, count=2)
    with tarfile.open(tmp_path / "all.tar", "w") as archive:
        archive.add(tmp_path / "wav", "deep/wav")
    shelf = ArchiveShelf(tmp_path / "all.tar")
    assert shelf.read(shelf.find("1.wav")).rate == RATE
    assert shelf.find("1") == shelf.find("deep/wav/1.wav")
    assert shelf.find("2.wav") is None
    (tmp_path / "no.tar").write_bytes(b"no archive at all")
    with pytest.raises(SoundError, match=r"no\.tar cannot be read as an archive of recordings"):
        ArchiveShelf(tmp_path / "no.tar")


def test_names_without_ending_are_found_in_a_subfolder(tmp_path):
    write_wave(tmp_path / "deep" / "one.wav", say("do"))
    (tmp_path / "list.csv").write_text("name,length,text\none,3,do\n", encoding="utf-8")
    [only] = read_transcribed(tmp_path / "list.csv")
    assert (only.path, only.text) == (tmp_path / "deep" / "one.wav", "do")


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("file,text\nmissing.wav,do\n", r"line 2 names missing\.wav, which is not in"),
        ("size,colour\n3,red\n", r"has no columns of recordings and their texts; name them"),
    ],
)
def test_what_a_table_lacks_is_named(table, sentence, tmp_path):
    (tmp_path / "t.csv").write_text(table, encoding="utf-8")
    with pytest.raises(LabelledError, match=sentence):
        list(read_transcribed(tmp_path / "t.csv"))


def test_columns_are_found_by_name_by_cells_and_as_said(tmp_path):
    (tmp_path / "t.csv").write_text("said,path\ndo,a.wav\nre,b.wav\n", encoding="utf-8")
    assert find_sound_columns(tmp_path / "t.csv") == ("path", "said")
    assert find_sound_columns(tmp_path / "t.csv", file="said", text="path") == ("said", "path")
    with pytest.raises(LabelledError, match="has no column 'who'; it has said, path"):
        find_sound_columns(tmp_path / "t.csv", text="who")
    (tmp_path / "reviews.csv").write_text("text,label\ngood film,1\nbad film,0\n", encoding="utf-8")
    assert find_sound_columns(tmp_path / "reviews.csv") is None


def test_a_transcript_in_another_encoding_is_refused_by_name(tmp_path):
    write_beside(tmp_path, count=1)
    (tmp_path / "0.txt").write_bytes("größer".encode("latin-1"))
    with pytest.raises(LabelledError, match=r"0\.txt is not UTF-8 \(byte 2\): save it as UTF-8"):
        list(read_transcribed(tmp_path))


def test_rows_are_chosen_by_what_a_column_says(tmp_path):
    examples = list(read_transcribed(write_table(tmp_path, count=4)))
    assert choose_rows("speaker=b", examples) == [False, True, False, True]
    assert all(choose_rows("speaker=a|b", examples))
    with pytest.raises(ValueError, match="has no column 'age' to choose rows by; it has file, text, speaker"):
        choose_rows("age=3", examples)
    with pytest.raises(ValueError, match="column=value"):
        choose_rows("speaker", examples)


def test_a_row_without_its_recording_is_told_and_not_read(tmp_path):
    table = write_table(tmp_path, count=3)
    (tmp_path / "wav" / "1.wav").unlink()
    found = list(read_entries(table))
    assert [one.found is None for one in found] == [False, True, False]
    assert (found[1].named, found[1].place) == ("wav/1.wav", f"{table}, line 3")
