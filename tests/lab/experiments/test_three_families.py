"""Three families on two tasks."""

from clearformer.lab.experiments.three_families import ASKED, CASES, FAMILIES, TRANSLATE


def test_they_are_of_equal_size(found):
    sizes = [float(row[1].replace(",", "")) for row in found("three-families")[1].tables[0].rows]
    assert len(sizes) == len(FAMILIES)
    assert max(sizes) / min(sizes) < 1.005


def test_each_in_its_own_field_is_what_the_notes_say(had_it_been):
    numbers = {case: {"loss": 3.0, "right": 0.5} for case in CASES}
    numbers[f"decoder, {TRANSLATE}"]["loss"] = 3.5
    numbers[f"encoder, {TRANSLATE}"]["loss"] = 4.0
    numbers[f"encoder, {ASKED}"]["right"] = 0.9
    assert had_it_been("three-families", numbers) == "holds with a condition"
    numbers[f"decoder, {ASKED}"]["right"] = 0.99
    assert had_it_been("three-families", numbers) == "does not hold"
