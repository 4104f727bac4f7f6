"""What a template may cost: counted before it is spent."""

import pytest

from clearformer.text.templates.budget import MOST_DEPTH, MOST_ITEMS, MOST_STEPS, MOST_TEXT, Budget, TemplateError


def test_steps_add_up_to_a_refusal():
    budget = Budget()
    budget.spend(MOST_STEPS)
    with pytest.raises(TemplateError, match="steps"):
        budget.spend()


def test_a_text_or_list_is_refused_before_it_is_made():
    with pytest.raises(TemplateError, match="characters"):
        Budget().room_for_text(MOST_TEXT + 1)
    with pytest.raises(TemplateError, match="items"):
        Budget().room_for_items(MOST_ITEMS + 1)


def test_a_list_that_holds_itself_again_and_again_costs_what_it_would_cost_to_show():
    value = ["a"]
    for _ in range(10):
        value = [value, value]
    budget = Budget()
    budget.weigh(value)
    assert budget.steps > 2**11
    for _ in range(MOST_DEPTH):
        value = [value]
    with pytest.raises(TemplateError, match="deep"):
        Budget().weigh(value)


def test_numbers_stay_small():
    Budget().weigh({"a": (1 << 62, 2.5, True, None)})
    with pytest.raises(TemplateError, match="number above"):
        Budget().weigh([1 << 64])
