"""What a kept measurement depends on."""

from pathlib import Path

from clearformer.lab import dependencies
from clearformer.lab.dependencies import PACKAGE, dependency_key, imported_files, reached_code

FILE = PACKAGE / "lab" / "experiments" / "padding_mask.py"
TEXT = '''
"""Claim."""
SIZE = 3
OTHER = 4

def measure(trial):
    """Says what."""
    return _inner() + SIZE

def _inner():
    return 1

def conclude(found):
    return OTHER
'''


def test_only_what_measure_reaches_counts():
    code = reached_code(TEXT)
    assert "_inner" in code
    assert "SIZE = 3" in code
    assert "OTHER" not in code
    assert "conclude" not in code


def test_a_remark_changes_nothing_and_a_number_does():
    assert reached_code(TEXT) == reached_code(TEXT.replace("return 1", "return 1  # one"))
    assert reached_code(TEXT) != reached_code(TEXT.replace("return 1", "return 2"))
    assert reached_code(TEXT) != reached_code(TEXT.replace("SIZE = 3", "SIZE = 5"))
    assert reached_code(TEXT) == reached_code(TEXT.replace("OTHER = 4", "OTHER = 5"))


def test_imports_are_followed_to_the_end():
    found = {str(path.relative_to(PACKAGE)) for path in imported_files(FILE)}
    assert {"model/attention.py", "model/masks.py", "model/cache.py", "model/families.py"} <= found
    assert not {name for name in found if name.startswith(("lab/", "figures/", "cli/"))}


def test_the_key_follows_the_sources(tmp_path, monkeypatch):
    before = dependency_key(FILE)
    assert dependency_key(FILE) == before
    copy = tmp_path / "padding_mask.py"
    copy.write_text(FILE.read_text(encoding="utf-8").replace("REAL, PADS", "PADS, REAL"), encoding="utf-8")
    assert dependency_key(copy) != before
    masks = PACKAGE / "model" / "masks.py"
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + (b"#" if path == masks else b""))
    assert dependencies.dependency_key(FILE) != before
