"""One closing for all encoders: every choice has a reason, and the recipe is one that can be read."""

from dataclasses import replace

import pytest

from clearformer.run.recipe import parse_recipe
from clearformer.tasks.automatic.encoder_recipe import EncoderPlan, EncoderSize, encoder_recipe

PLAN = EncoderPlan(
    task="text-classification",
    name="x",
    size=EncoderSize(up_to=10, vocab_size=1000, layers=2, dim=64, dropout=0.1, peak=1e-3),
    data={"train": "a.csv"},
    head={"kind": "class", "labels": 2},
    model={"head": {"pool": "mean"}},
    unspaced=False,
    length=32,
    steps=300,
    batch=1024,
    passes=4.2,
    what="texts",
    why={"vocabulary": "v", "length": "l", "model": "m"},
)


@pytest.mark.parametrize("unspaced", [False, True])
def test_the_recipe_can_be_read_and_every_choice_has_a_reason(unspaced):
    recipe, choices = encoder_recipe(replace(PLAN, unspaced=unspaced))
    read = parse_recipe(recipe, "made")
    assert read.training.steps == 300
    assert read.data.vocabulary.kind == ("character" if unspaced else "wordpiece")
    assert [one.what for one in choices] == ["vocabulary", "length", "model", "steps"]
    assert all(one.reason for one in choices)


def test_what_the_task_says_comes_last():
    assert encoder_recipe(replace(PLAN, model={"hidden_dim": 7}))[0]["model"]["hidden_dim"] == 7
    _, choices = encoder_recipe(replace(PLAN, vocabulary={"normalise": ["lowercase"]}))
    assert choices[0].value.endswith("lower case")
