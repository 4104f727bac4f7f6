"""Findings: every kind explains itself, every excerpt is safe to print."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.text.doctor.findings import Finding, Kind, excerpt


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_a_severity_a_meaning_and_a_remedy(kind):
    assert kind.severity
    assert kind.meaning
    assert not kind.meaning.endswith(".")
    assert kind.remedy.endswith(".")


@given(line=st.text(st.characters()), around=st.integers(0, 100), width=st.integers(1, 80))
def test_an_excerpt_is_short_and_printable(line, around, width):
    shown = excerpt(line, around, width)
    assert shown.isprintable()
    assert len(shown) <= 10 * width + 2  # an escape takes up to ten places


def test_an_excerpt_shows_the_place_it_is_about():
    line = "a" * 500 + "\x00" + "b" * 500
    shown = excerpt(line, around=500)
    assert "a\\x00b" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert excerpt("short") == "short"


def test_a_finding_is_one_sentence_with_its_place():
    finding = Finding(kind=Kind.INVALID_UTF8, file="a.de", line=9, detail="byte 0xdf")
    assert str(finding).startswith("a.de:9: bytes that are not UTF-8 (byte 0xdf). Convert the file")
    assert Finding(kind=Kind.EMPTY_FILE, file="a.de", line=None).place() == "a.de"
