"""Rows of tables that strangers made: other separators, other headings, none at all, and characters that are halves."""

import pytest

from clearformer.data.readers.tables import LabelledError, has_rows, read_rows


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


ROWS = [(f'she said "{n}", and left; why?', ("ja", "nein")[n % 2]) for n in range(60)]


@pytest.mark.parametrize("mark", [",", ";", "|"])
def test_the_separator_of_a_csv_is_found(tmp_path, mark):
    quoted = "".join('"' + text.replace('"', '""') + f'"{mark}{label}\n' for text, label in ROWS)
    rows = list(read_rows(write(tmp_path / "a.csv", f"Satz{mark}Urteil\n{quoted}")))
    assert [(row.fields["Satz"], row.fields["Urteil"]) for row in rows] == ROWS
    assert rows[0].line == 2


def test_a_comma_in_a_text_does_not_win_against_a_semicolon(tmp_path):
    lines = "".join(f"one, two{', three' * (n % 3)};{n % 2}\n" for n in range(30))
    assert len(next(iter(read_rows(write(tmp_path / "a.csv", lines)))).fields) == 2


def test_headings_that_nobody_knows_stand_apart_from_the_rows(tmp_path):
    rows = "".join(f"{text}\t{label}\n" for text, label in ROWS)
    named = list(read_rows(write(tmp_path / "a.tsv", f"Aussage\tAntwort\n{rows}")))
    bare = list(read_rows(write(tmp_path / "b.tsv", rows)))
    assert (len(named), len(bare)) == (60, 60)
    assert list(named[0].fields) == ["Aussage", "Antwort"]
    assert list(bare[0].fields) == ["1", "2"]


def test_a_first_row_like_the_others_is_data(tmp_path):
    """Its label occurs again below, so nothing is lost."""
    rows = "".join(f"words {n}\tgood\n" if n % 2 else f"words {n}\tbad\n" for n in range(40))
    assert len(list(read_rows(write(tmp_path / "a.tsv", rows)))) == 40


def test_half_a_character_is_refused_by_its_line(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"text": "a", "label": "b"}\n{"text": "half \\ud83d", "label": "b"}\n')
    with pytest.raises(LabelledError, match=r"a\.jsonl, line 2 has half a character"):
        list(read_rows(path))


def test_a_whole_character_in_two_halves_is_one(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"text": "\\ud83d\\ude00", "label": "b"}\n')
    assert next(iter(read_rows(path))).fields["text"] == "😀"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.csv", "text,label\n", False),
        ("a.csv", "Brief;Betreff\n", False),  # headings that nobody knows
        ("a.tsv", "", False),
        ("a.csv", "text,label\nfine,good\n", True),
        ("a.csv", "a film,good\nno film,bad\n", True),
        ("a.jsonl", '{"text": "fine"}\n', True),
        ("a.jsonl", "[", True),  # whoever reads it says so
    ],
)
def test_headings_are_no_row(tmp_path, name, content, expected):
    assert has_rows(write(tmp_path / name, content)) is expected
