"""What a model cannot be trusted with is found: names that it never saw, codes, numbers; common words never are."""

import pytest

from clearformer.text.rare_items import name_places, rare_items, shape

WORDS = "Tom Boston German French how do i install this the software dr flew from to on it is"
KNOWN = frozenset(WORDS.split())


def found(text: str, script: str = "Latin") -> list[str]:
    return [item.text for item in rare_items(text, KNOWN, script)]


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("Dr. Achterberg flew from Nairobi to Boston.", ["Achterberg", "Nairobi"]),
        ("Prof. Rossi flew", ["Rossi"]),
        ("How do I install this Software?", []),  # small letters were seen
        ("It is unbelievable.", []),  # rare, but no name
        ("Okonkwo's software", ["Okonkwo"]),
        ("O'Brien and Al-Sayed", ["O'Brien", "Al-Sayed"]),
        ("the French-German software on X-software", []),
        ("Clint Eastwood flew", ["Clint Eastwood"]),
        ("flight LH441 to gate B7, on an iPhone", ["LH441", "B7", "iPhone"]),
        ("the 14th, 3.5kg, $1,250.50, 7:15", ["14", "3.5", "1,250.50", "7:15"]),
        ("on 2024-03-14", ["2024-03-14"]),
        ("HOW DO I INSTALL XYZZY", []),  # in a text in capitals a capital says nothing
        ("Tom to 北京", ["北京"]),
        ("a C++ or C program", ["C++"]),
    ],
)
def test_items_of_a_sentence_in_latin_letters(text: str, items: list[str]):
    assert found(text) == items


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("Novák先生住在布拉格。", ["Novák"]),
        ("Tom在2024年3月14日去了北京。", ["2024", "3", "14"]),
        ("订单号是B489。", ["B489"]),
        ("我用machine learning。", ["machine learning"]),
    ],
)
def test_items_among_chinese_characters(text: str, items: list[str]):
    assert found(text, "Han/Kana") == items


def test_an_item_says_where_it_stands():
    text = "Dr. Achterberg has 1,250 books"
    assert all(text[item.start : item.end] == item.text for item in rare_items(text, KNOWN, "Latin"))


@pytest.mark.parametrize(
    ("number", "kind"),
    [("7", "digit"), ("47", "small"), ("1987", "year"), ("3019", "large"), ("12,480", "large"), ("347", "large"),
     ("3.5", "decimal"), ("1,250.50", "decimal"), ("7:15", "time")],
)  # fmt: skip
def test_shapes_of_numbers(number: str, kind: str):
    assert shape(number) == kind


@pytest.mark.parametrize(
    ("text", "count"), [("Rossis Haus", 1), ("Rossi’s", 1), ("Rossini", 0), ("DRossi", 0), ("和Rossi和Rossi", 2)]
)
def test_a_name_is_found_letter_by_letter(text: str, count: int):
    assert len(name_places("Rossi", text)) == count
