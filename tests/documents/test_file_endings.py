"""Which files are documents; and real files of this machine go through with their structure, whoever translates."""

import re
import sysconfig
from pathlib import Path

import pytest

from clearformer.documents.file_endings import is_document, open_document, refuse_other
from clearformer.documents.segments import DocumentError
from support.document_structure import structure
from support.documents import spoiling, translated, unchanged

FILES = 8  # of each kind
LARGEST = 40_000
CHINESE = re.compile("[\u3400-\u9fff]")
PACKAGES = Path(sysconfig.get_path("purelib"))


def real_files(ending: str) -> list[Path]:
    found = sorted(PACKAGES.rglob(f"*{ending}"))
    fitting = [path for path in found if 500 < path.stat().st_size < LARGEST and "top_level" not in path.name]
    return fitting[:: max(1, len(fitting) // FILES)][:FILES]


def test_the_ending_decides():
    assert all(is_document(Path(f"a{ending}")) for ending in (".txt", ".MD", ".srt", ".html", ".docx", ".po"))
    assert not any(is_document(Path(name)) for name in ("a", "a.en", "a.txt.gz", "a.json"))
    with pytest.raises(DocumentError, match=r"a.pdf: .pdf files are not read; give the text"):
        refuse_other(Path("a.pdf"))
    refuse_other(Path("a.en"))


@pytest.mark.parametrize("ending", [".txt", ".md", ".html"])
def test_real_files_keep_their_structure(ending: str):
    files = real_files(ending)
    assert files
    for path in files:
        data = path.read_bytes()
        try:
            open_document(path)
        except DocumentError:
            with pytest.raises(UnicodeDecodeError):  # the only reason why a page is refused
                data.decode("utf-8")
            continue
        # In HTML white space may change its side of a tag; and a language with spaces has one between sentences, which
        # Chinese has not.
        if ending != ".html" and not CHINESE.search(data.decode("utf-8")):
            assert translated(path, unchanged) == data, path
        assert structure(path, translated(path, unchanged)) == structure(path, data), path
        assert structure(path, translated(path, spoiling)) == structure(path, data), path
