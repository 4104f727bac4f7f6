"""A copy is the catalogued file, or it is said what is wrong with it."""

from __future__ import annotations

import gzip
import hashlib
import json

import pytest

from clearformer.data.catalogue.copies import marker, problem_with
from clearformer.data.catalogue.corpora import CorpusFile

CONTENT = b"To be, or not to be\n"
FACTS = {"urls": (), "size": len(CONTENT), "sha256": hashlib.sha256(CONTENT).hexdigest()}


def test_a_plain_file_is_compared_by_size_and_then_by_checksum(tmp_path):
    file = CorpusFile(path="a.txt", **FACTS)
    assert problem_with(file, tmp_path) == f"{tmp_path / 'a.txt'} is missing"
    (tmp_path / "a.txt").write_bytes(CONTENT[:-1])
    assert "has 19 bytes where the catalogue says 20" in problem_with(file, tmp_path)
    (tmp_path / "a.txt").write_bytes(CONTENT.upper())
    assert "has SHA-256" in problem_with(file, tmp_path)
    (tmp_path / "a.txt").write_bytes(CONTENT)
    assert problem_with(file, tmp_path) is None


@pytest.mark.parametrize("level", [1, 9])
def test_a_packed_file_is_known_by_its_content(tmp_path, level):
    file = CorpusFile(path="a.gz", form="gzip", **FACTS)
    packed = gzip.compress(CONTENT, level)
    (tmp_path / "a.gz").write_bytes(packed)
    assert problem_with(file, tmp_path) is None
    (tmp_path / "a.gz").write_bytes(packed[:-4])
    assert "cannot be read" in problem_with(file, tmp_path)


def test_an_archive_is_there_when_its_members_are_and_a_note_says_whose_they_are(tmp_path):
    file = CorpusFile(path="a.tgz", form="archive", members=("x",), **FACTS)
    (tmp_path / "x").write_text("words")
    assert "was not unpacked to the end" in problem_with(file, tmp_path)
    marker(file, tmp_path).write_text(json.dumps({"sha256": "another"}))
    assert "was another archive" in problem_with(file, tmp_path)
    marker(file, tmp_path).write_text(json.dumps({"sha256": file.sha256}))
    assert problem_with(file, tmp_path) is None
