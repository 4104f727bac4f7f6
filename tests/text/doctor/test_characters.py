"""Suspicious characters, and the innocent ones that look like them."""

import pytest

from clearformer.text.doctor.characters import suspects
from clearformer.text.doctor.findings import Kind


@pytest.mark.parametrize(
    "text", ["über", "„Größe“", "naïve café", "Привет, мир", "你好", "Ελληνικά", "čeština", "Łódź"]
)
@pytest.mark.parametrize("wrong", ["latin-1", "cp1252"])
def test_utf8_read_as_something_else_is_recognised(text, wrong):
    try:
        garbled = text.encode("utf-8").decode(wrong)
    except UnicodeDecodeError:
        garbled = text.encode("utf-8").decode("latin-1")
    assert Kind.MOJIBAKE in [suspect.kind for suspect in suspects(garbled)], garbled


@pytest.mark.parametrize(
    "text",
    [
        "« CAFÉ »",
        "«CAFÉ»",
        "Ä“ und Ö”",
        "São Paulo – maçã",
        "Âge d’or",
        "Ångström’s",
        "l’été…",
        "GRÖSSE™",
        "à “demain”",
    ],
)
def test_good_text_is_not_called_mojibake(text):
    assert [suspect.kind for suspect in suspects(text)] == []


def test_each_kind_is_told_once_at_its_first_place():
    found = {suspect.kind: suspect for suspect in suspects("a\u2028b\x85c\ufeff\ufffd\ufffd\ue000 ")}
    assert found[Kind.LINE_SEPARATOR][1:] == (1, "U+2028")
    assert found[Kind.BOM_INSIDE].position == 5
    assert found[Kind.REPLACEMENT_CHARACTER].position == 6
    assert found[Kind.UNASSIGNED_CHARACTER].detail == "U+E000"
    assert found[Kind.EDGE_SPACE].position == 9


@pytest.mark.parametrize("text", ["", "plain", "5\u00a0%", "e\u0301", "👩\u200d👩\u200d👧", "a\tb", "\u200eعربي"])
def test_ordinary_text_is_left_in_peace(text):
    assert list(suspects(text)) == []


def test_undecodable_lines_are_the_readers_matter():
    assert list(suspects("wei\udcdf ")) == []
