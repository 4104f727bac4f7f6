"""Scripts: enough to notice a line in the wrong one, and not more often than that."""

import pytest

from clearformer.text.scripts import ScriptTally, SwapTally, script_of, scripts_of


@pytest.mark.parametrize(
    ("characters", "script"),
    [
        ("aßÅＡ", "Latin"),
        ("яЖ", "Cyrillic"),
        ("ωΑ", "Greek"),
        ("学かカｶ", "Han/Kana"),
        ("한", "Hangul"),
        ("ع", "Arabic"),
        ("ह", "Devanagari"),
        ("ไ", "Thai"),
        ("1 。😀-", None),
    ],
)
def test_letters_have_a_script_and_the_rest_has_none(characters, script):
    assert {script_of(character) for character in characters} == {script}


@pytest.mark.parametrize(
    ("line", "scripts"),
    [
        ("Two dogs play.", {"Latin"}),
        ("Zwölf Boxkämpfer jagen", {"Latin"}),
        ("Две собаки играют", {"Cyrillic"}),
        ("两只狗在玩。", {"Han/Kana"}),
        ("犬がいます", {"Han/Kana"}),
        ("我喜欢 Transformer 模型", {"Han/Kana", "Latin"}),
        ("The word Привет means hello and it is the usual greeting among friends everywhere today", {"Latin"}),
        ("Tom", set()),
        ("1984", set()),
        ("", set()),
        ("— … —", set()),
    ],
)
def test_lines_have_the_scripts_that_carry_them(line, scripts):
    assert scripts_of(line) == scripts


def test_a_mixed_file_has_no_script_of_its_own():
    tally = ScriptTally(5)
    for number in range(10):
        tally.see(number, frozenset({"Latin"} if number % 2 else {"Greek"}), "text")
    assert tally.own() is None


def test_foreign_lines_are_counted_and_the_first_are_kept():
    tally = ScriptTally(2)
    for number in range(1, 101):
        tally.see(number, frozenset({"Greek"} if number % 20 == 0 else {"Latin"}), f"line {number}")
    assert tally.own() == "Latin"
    assert tally.foreign_to("Latin") == (5, [(20, {"Greek"}, "line 20"), (40, {"Greek"}, "line 40")])


def test_sides_are_swapped_only_when_both_are():
    tally = SwapTally(5)
    latin, greek = frozenset({"Latin"}), frozenset({"Greek"})
    tally.see(1, latin, greek, "as it should be")
    tally.see(2, greek, latin, "swapped")
    tally.see(3, greek, greek, "one side only")
    assert tally.between("Latin", "Greek") == (1, [(2, "swapped")])
    assert tally.between("Latin", "Latin") == tally.between(None, "Greek") == (0, [])
