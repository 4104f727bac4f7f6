"""A look at the development set: the likelihood of the references, and the task's own scores."""

from dataclasses import replace

import pytest
import torch

from clearformer.inference.translator import Translator
from clearformer.run.recipe import read_recipe
from flows.numbers import write_recipe
from run.assembled import assemble


@pytest.fixture
def recipe(tmp_path):
    return read_recipe(write_recipe(tmp_path))


def test_validation_measures_the_likelihood_of_the_references(recipe, tmp_path):
    """As the translator's own score does it, sentence by sentence; smoothing is for learning, not for measuring."""
    made = assemble(recipe, tmp_path)
    made.made.model.eval()
    held = made.prepared.held
    scores = made.validation()(made.made.model, 1)
    expected = Translator(made.made).perplexity(held.sources, held.references)
    assert scores["perplexity"] == pytest.approx(expected, rel=1e-4)
    assert scores["sample_0"].startswith(f"{held.sources[0]} → ")


def test_it_looks_at_as_many_examples_as_the_recipe_says(recipe, tmp_path):
    asked = []
    made = assemble(replace(recipe, scoring=replace(recipe.scoring, examples=3)), tmp_path)
    validation = made.validation()
    real = validation.predictor.translate
    validation.predictor.translate = lambda texts, *more, **options: (
        asked.append(len(texts)) or real(texts, *more, **options)
    )
    assert {"loss", "perplexity", "bleu", "sample_0"} <= set(validation(made.made.model.eval(), 1))
    assert asked == [3]


def test_it_leaves_no_trace_in_the_model(recipe, tmp_path):
    made = assemble(recipe, tmp_path)
    before = {name: weight.clone() for name, weight in made.made.model.state_dict().items()}
    made.validation()(made.made.model.eval(), 1)
    assert all(torch.equal(weight, before[name]) for name, weight in made.made.model.state_dict().items())
    assert all(parameter.grad is None for parameter in made.made.model.parameters())
