"""Stand-ins are put in, found again in the translation, and exchanged; what does not come out exactly is refused."""

from typing import Any

import pytest

from clearformer.text.stand_in_table import KEY, Attempt, StandInTable, stand_in_table

TABLE: dict[str, Any] = {
    "script": "Latin",
    "words": "met in the car paid for books has and Tom's",
    "names": {"Tom": {"Tom": "{}", "Toms": "{}s"}, "Mary": {"Maria": "{}"}, "Boston": {"Boston": "{}"}},
    "numbers": {"large": ["100", "5"], "small": ["30"], "decimal": ["2.5"]},
    "marks": {"source": ",.", "target": ".,"},
}


@pytest.fixture(scope="module")
def table() -> StandInTable:
    found = stand_in_table({KEY: TABLE})
    assert found is not None
    return found


def first(table: StandInTable, text: str) -> Attempt:
    return table.attempts(text, 1)[0]


def test_a_folder_without_a_table_has_none():
    assert stand_in_table({"stand_in": "⟦{}⟧"}) is None


@pytest.mark.parametrize(
    "damage",
    [
        {"words": 3},
        {"names": {"Tom": {"Tom": "always this"}}},
        {"names": {"Tom": ["Tom"]}},
        {"names": {"Tom": {"": "{}"}}},
        {"names": {str(number): {"a": "{}"} for number in range(65)}},
        {"numbers": {"large": ["many"]}},
        {"numbers": {"small": ["3"] * 65}},
        {"marks": {"source": ",.", "target": "."}},
        {"marks": None},
    ],
)
def test_a_table_that_makes_no_sense_is_refused(damage: dict[str, Any]):
    with pytest.raises(ValueError, match="stand_ins that cannot be read"):
        stand_in_table({KEY: TABLE | damage})


def test_every_rare_item_gets_a_stand_in_that_is_not_in_the_text(table: StandInTable):
    made = first(table, "Tom met Okonkwo in Nairobi")
    assert made.text == "Tom met Mary in Boston"
    assert [(one, item.text) for one, item in made.used] == [("Mary", "Okonkwo"), ("Boston", "Nairobi")]


def test_attempts_differ_and_leave_names_or_numbers_alone(table: StandInTable):
    texts = [one.text for one in table.attempts("Okonkwo has 12,480 books", 4)]
    assert len(set(texts)) == len(texts)
    assert {"Tom has 100 books", "Okonkwo has 100 books", "Tom has 12,480 books", "Mary has 5 books"} <= set(texts)


def test_equal_items_get_equal_stand_ins(table: StandInTable):
    made = first(table, "Okonkwo met Okonkwo")
    assert made.text == "Tom met Tom"
    assert table.restored(made, "Tom traf Tom") == "Okonkwo traf Okonkwo"
    assert table.restored(made, "Tom traf ihn") is None


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Toms Auto und Maria", "Novaks Auto und Rossi"),
        ("das Auto von Tom; Maria", "das Auto von Novak; Rossi"),
        ("Toms Auto", None),  # Mary is not there
        ("Tom und Tom und Maria", None),  # one too many
        ("Tomaten für Maria", None),
    ],
)
def test_names_come_back_in_the_form_that_was_written(table: StandInTable, said: str, text: str | None):
    assert table.restored(first(table, "Novak's car and Rossi"), said) == text


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Tom und Maria", "Novak und Rossi"),
        ("Tom und Bostoner und Maria", "Novak und Bostoner und Rossi"),  # Boston did not stand in
        ("Tom und Mary und Maria", None),
        ("Tomy Tom und Maria", None),
    ],
)
def test_no_stand_in_is_left_over(table: StandInTable, said: str, text: str | None):
    assert table.restored(first(table, "Novak and Rossi"), said) == text


def test_after_s_a_genitive_has_an_apostrophe(table: StandInTable):
    assert table.restored(first(table, "Fuentes's car"), "Toms Auto") == "Fuentes’ Auto"


@pytest.mark.parametrize(
    ("source", "said", "text"),
    [
        ("paid 12,480 for the books", "100 bezahlt", "12.480 bezahlt"),
        ("paid 1,250.50", "zahlte 2,5", "zahlte 1.250,50"),
        ("paid 47", "zahlte dreißig", "zahlte 47"),
        ("paid 47", "zahlte 130", None),
        ("paid 47", "zahlte 30,5", None),
    ],
)
def test_numbers_are_written_as_the_target_does(table: StandInTable, source: str, said: str, text: str | None):
    assert table.restored(first(table, source), said) == text


@pytest.mark.parametrize(
    ("source", "translation", "lost"),
    [
        ("Okonkwo has 12,480 books", "Okonkwo hat 12.480 Bücher", []),
        ("Okonkwo has 12,480 books", "Okonkwo hat 12480 Bücher", []),
        ("Okonkwo has 12,480 books", "Okonkwo hat 124,80 Bücher", ["12,480"]),
        ("Okonkwo has 12,480 books", "Otto hat zwölf Bücher", ["Okonkwo", "12480"]),
        ("Okonkwo has books", "Okonkwo Okonkwo hat Bücher", ["Okonkwo"]),
        ("paid for 3 books", "drei Bücher", []),
        ("met LH441", "traf LH441", []),
        ("met in 7:00", "um 7 Uhr", []),
        ("met in 7:15", "um 7.15 Uhr", []),
        ("met in 7:15", "um 7.45 Uhr", ["7", "15"]),
    ],
)
def test_what_is_missing_is_named(table: StandInTable, source: str, translation: str, lost: list[str]):
    assert table.missing(source, translation) == lost


def test_numbers_and_stand_ins_out_of_nowhere_are_counted(table: StandInTable):
    assert table.invented("Okonkwo has 30 books", "Okonkwo hat 30 Bücher") == 0
    assert table.invented("Okonkwo has 30 books", "Okonkwo hat 30 Bücher in Boston und 7 Tomaten") == 2
