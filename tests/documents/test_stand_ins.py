"""A name stands in for what must be kept, and only a translation that has it once is believed."""

from clearformer.documents.stand_ins import StandIn, exchanged, stand_ins, unused

TOM, BOSTON = StandIn("Tom", "Tom"), StandIn("Boston", "Boston")


def test_names_are_written_as_each_language_writes_them():
    assert stand_ins("en", "de")[0] == TOM
    assert stand_ins("zh", "en")[0] == StandIn("汤姆", "Tom")
    assert stand_ins(None, None)


def test_a_model_may_name_a_mark_of_its_own():
    assert stand_ins("en", "de", "⟦{}⟧")[:2] == (StandIn("⟦1⟧", "⟦1⟧"), StandIn("⟦2⟧", "⟦2⟧"))
    assert stand_ins("en", "de", 7) == stand_ins("en", "de")


def test_a_name_that_the_text_has_does_not_stand_in():
    assert unused([TOM, BOSTON], "Tom is here") == [BOSTON]


def test_only_what_came_out_once_is_exchanged():
    assert exchanged("Ich sehe Tom in Boston.", [TOM, BOSTON]) == ["Ich sehe ", 0, " in ", 1, "."]
    assert exchanged("In Boston ist Tom", [TOM, BOSTON]) == ["In ", 1, " ist ", 0, ""]
    assert exchanged("汤姆在家", [StandIn("Tom", "汤姆")]) == ["", 0, "在家"]
    for wrong in ("Toms Haus", "Tom und Tom", "niemand", "Tom, Toms"):
        assert exchanged(wrong, [TOM]) is None
    assert exchanged("anything", []) == ["anything"]
