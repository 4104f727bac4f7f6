"""Variants and what their differences are worth."""

import pytest

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.comparison import (
    TRANSLATION,
    WRITING,
    Variant,
    difference_check,
    differences,
    interval,
    names,
    variants_figure,
    variants_table,
    within_check,
)
from clearformer.lab.experiment import Measurement, Trial
from clearformer.run.recipe import find_recipe, read_recipe

SAYS = Bilingual("so", "如此")
VARIANTS = (Variant(name="a", label=Bilingual("one", "甲")), Variant(name="b", label=Bilingual("other", "乙")))


def measured(a, b, **more):
    return [
        Measurement(trial=Trial(scale="full", seed=seed, case=case), values={"loss": loss, "parameters": 10, **more})
        for case, losses in (("a", a), ("b", b))
        for seed, loss in enumerate(losses)
    ]


def test_the_interval_is_student_s():
    low, high = interval([1.0, 2.0, 3.0])
    assert (low, high) == pytest.approx((2 - 4.303 / 3**0.5, 2 + 4.303 / 3**0.5))
    assert interval([1.5]) == [1.5]


def test_differences_go_seed_by_seed():
    assert differences(measured([3, 5], [1, 2]), "loss", "a", "b") == [2, 3]


@pytest.mark.parametrize(
    ("a", "b", "state"),
    [
        ([3.0, 3.1, 3.2], [2.0, 2.1, 2.21], "met"),
        ([2.0, 2.1, 2.2], [3.0, 3.1, 3.21], "not met"),
        ([3.0, 2.0, 3.3], [2.9, 2.2, 3.0], "open"),  # smaller than the spread
        ([3.0], [1.0], "open"),  # of one seed there is no spread
    ],
)
def test_an_effect_smaller_than_the_spread_is_not_called_one(a, b, state):
    assert difference_check(measured(a, b), SAYS, ("a", "b")).state == state


def test_alike_has_to_be_shown_too():
    assert within_check(measured([3.0, 3.1, 3.2], [3.0, 3.1, 3.21]), SAYS, ("a", "b"), most=0.1).state == "met"
    assert within_check(measured([3.0, 2.0, 3.3], [2.5, 2.6, 3.0]), SAYS, ("a", "b"), most=0.1).state != "met"


def test_the_table_has_bleu_where_there_is_one():
    table = variants_table(SAYS, measured([1], [2], bleu=3.0), VARIANTS)
    assert [row[-1] for row in table.rows] == ["3", "3"]
    assert len(variants_table(SAYS, measured([1], [2]), VARIANTS).columns) == 3
    assert "甲" in variants_figure(SAYS, measured([1], [2]), VARIANTS).svg.zh
    assert names(VARIANTS) == ("a", "b")


@pytest.mark.parametrize("recipe", [TRANSLATION, WRITING])
def test_the_recipes_are_recipes_like_any_other(recipe):
    assert read_recipe(find_recipe(recipe)).data.corpus == "sample"
