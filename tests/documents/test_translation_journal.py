"""What was translated is found again, but for a line that a kill cut off; a journal of something else is not used."""

from pathlib import Path

from clearformer.documents.segments import Fragment
from clearformer.documents.sentence_steps import Made
from clearformer.documents.translation_journal import Journal, journal_beside

ONE, TWO = (Fragment("one"),), (Fragment("two "), Fragment("%s", "kept"))
EINS, ZWEI = Made((Fragment("eins"),), 0.5), Made((Fragment("zwei "), Fragment("%s", "kept")), None, in_parts=True)


def test_what_was_kept_is_found(tmp_path: Path):
    path = journal_beside(tmp_path / "out.md")
    journal = Journal(path, {"model": "a"})
    assert journal.read() == {}
    journal.begin({})
    journal.add([(ONE, EINS)])
    journal.add([(TWO, ZWEI)])
    assert Journal(path, {"model": "a"}).read() == {ONE: EINS, TWO: ZWEI}
    path.write_bytes(path.read_bytes()[:-9])  # killed while it wrote
    again = Journal(path, {"model": "a"})
    assert again.read() == {ONE: EINS}
    again.begin({ONE: EINS})
    again.add([(TWO, ZWEI)])
    assert Journal(path, {"model": "a"}).read() == {ONE: EINS, TWO: ZWEI}
    again.discard()
    assert list(tmp_path.iterdir()) == []


def test_another_model_begins_anew(tmp_path: Path):
    journal = Journal(tmp_path / "j", {"model": "a"})
    journal.begin({ONE: EINS})
    other = Journal(tmp_path / "j", {"model": "b"})
    assert other.read() == {}
    assert other.other
    (tmp_path / "j").write_text("no json\n")
    assert Journal(tmp_path / "j", {"model": "a"}).read() == {}
