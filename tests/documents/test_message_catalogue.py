"""PO files: missing translations are made, everything else stays, and gettext itself accepts the result."""

import shutil
import subprocess
from pathlib import Path

import pytest

from clearformer.documents.message_catalogue import open_catalogue
from clearformer.documents.segments import DocumentError
from support.document_structure import structure
from support.documents import shouting, spoiling, translated, written

HEAD = r"""msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\n"

"""
PO = (
    HEAD
    + r"""# a comment
#: file.c:12
#, c-format
msgctxt "menu"
msgid "Open %s"
msgstr ""

msgid "%d dog"
msgid_plural "%d dogs"
msgstr[0] ""
msgstr[1] ""

msgid "Done"
msgstr "Fertig"

#, fuzzy
msgid "Maybe"
msgstr ""

#, python-brace-format
msgid ""
"A \"quoted\" line of {name} that is long enough to be wrapped\n"
"here.\n"
"\n"
"\tAn item\n"
msgstr ""

msgid "_Quit"
msgstr ""

#~ msgid "old"
#~ msgstr ""
"""
)


def test_only_missing_translations_are_made(tmp_path: Path):
    path = written(tmp_path / "de.po", PO)
    changed = translated(path, shouting).decode()
    assert structure(path, changed.encode()) == structure(path, PO.encode())
    for line in (
        'msgstr "oPEN %s"',
        'msgstr[0] "%d DOG"\nmsgstr[1] "%d DOGS"',
        'msgstr "Fertig"',
        'msgid "Maybe"\nmsgstr ""',
        r'msgstr "a \"QUOTED\" LINE OF {name} THAT IS LONG ENOUGH TO BE WRAPPED\nHERE.\n\n\taN ITEM\n"',
        'msgstr "_qUIT"',
        '#~ msgstr ""',
    ):
        assert line in changed, line
    assert changed.startswith(HEAD)


@pytest.mark.skipif(shutil.which("msgfmt") is None, reason="gettext is not installed")
@pytest.mark.parametrize("ask", [shouting, spoiling])
def test_gettext_accepts_it(tmp_path: Path, ask):
    made = written(tmp_path / "out.po", translated(written(tmp_path / "de.po", PO), ask))
    subprocess.run(["msgfmt", "-c", "-o", str(tmp_path / "out.mo"), str(made)], check=True, capture_output=True)


def test_one_plural_form_speaks_of_several(tmp_path: Path):
    text = 'msgid "one dog"\nmsgid_plural "many dogs"\nmsgstr[0] ""\n'
    assert b'msgstr[0] "MANY DOGS"' in translated(written(tmp_path / "zh.po", text), shouting)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('msgid "a"\nmsgstr "b', "de.po:2 has a string without its closing quote|de.po:2 is no line"),
        ('msgid "a"\nmsgid "b"\nmsgstr ""\n', "de.po:2 says msgid twice"),
        ("hello\n", "de.po:1 is no line of a PO file"),
        ('msgid ""\nmsgstr "Content-Type: text/plain; charset=ISO-8859-1\\n"\n', "says charset=ISO-8859-1; .*msgconv"),
    ],
)
def test_what_is_no_catalogue_is_refused(tmp_path: Path, text: str, reason: str):
    with pytest.raises(DocumentError, match=reason):
        open_catalogue(written(tmp_path / "de.po", text))
