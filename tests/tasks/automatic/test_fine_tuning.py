"""From a model instead of from scratch: its sizes and vocabulary, a lower rate, fewer steps, a fitting head."""

from dataclasses import replace

import pytest

from clearformer.folder.description import open_folder
from clearformer.run.automatic import choose
from clearformer.run.recipe import parse_recipe, read_recipe
from clearformer.run.train import train
from clearformer.tasks.automatic.fine_tuning import begin_with, published_start
from flows.tiny_tasks import TINY
from run.assembled import assemble
from tasks.automatic.test_labelled_tables import write_table


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """A classifier of two classes that read 24 tokens."""
    folder = tmp_path_factory.mktemp("start")
    recipe = read_recipe(TINY["text-classification"](folder), ["training.steps=2"])
    return train(recipe, folder / "run", base=folder)


def test_everything_that_a_start_decides_is_said_with_a_reason(tmp_path, start):
    path = write_table(tmp_path / "reviews.csv")
    scratch = choose([path], tmp_path / "scratch")
    begun = choose([path], tmp_path / "begun", start=start)
    assert begun.recipe["model"]["from"] == str(start.resolve())
    assert "dim" not in begun.recipe["model"]
    assert "vocabulary" not in begun.recipe["data"]
    assert begun.recipe["data"]["max_length"] <= 24
    assert begun.recipe["training"]["steps"] < scratch.recipe["training"]["steps"]
    assert begun.recipe["training"]["schedule"]["peak"] < scratch.recipe["training"]["schedule"]["peak"]
    told = {one.what: one.reason for one in begun.choices}
    assert {"model", "head", "learning rate", "steps", "held out"} <= told.keys()
    assert all(told.values())


def test_a_wider_model_takes_smaller_steps(tmp_path, start):
    chosen = choose([write_table(tmp_path / "reviews.csv")], tmp_path / "run")
    folder = open_folder(start)
    rates = []
    for dim in (64, 384, 768):
        folder.description.model["dim"] = dim
        rates.append(begin_with(chosen, folder).recipe["training"]["schedule"]["peak"])
    assert rates == [5e-4, 3e-4, 1.5e-4]


def test_types_of_a_start_tell_texts_apart_and_not_what_they_share(tmp_path, start):
    table = tmp_path / "asked.csv"
    rows = [f"what of number {n},which number {n},{('yes', 'no')[n % 2]}" for n in range(60)]
    table.write_text("\n".join(["question1,question2,label", *rows]) + "\n")
    chosen = choose([table], tmp_path / "run")
    assert chosen.recipe["data"]["overlap"] is True
    folder = open_folder(start)
    for types, kept in ((0, True), (2, False)):
        folder.description.model["embedding"] = {"types": types}
        assert ("overlap" in begin_with(chosen, folder).recipe["data"]) == kept


def test_the_model_that_begins_has_the_other_s_weights(tmp_path, start):
    chosen = choose([write_table(tmp_path / "reviews.csv")], tmp_path / "run", start=start)
    made = assemble(parse_recipe(chosen.recipe, "made"), tmp_path / "run")
    assert made.made.config.dim == 16
    assert made.made.tokenizer == open_folder(start).preprocessing.tokenizer


def test_a_start_that_is_not_there_is_refused_before_anything_is_made(tmp_path):
    path = write_table(tmp_path / "reviews.csv")
    with pytest.raises(ValueError, match="there is no model folder nowhere"):
        choose([path], tmp_path / "run", start="nowhere")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("texts", "start"),
    [
        (["the film was better than what I had heard of it"] * 3, "minilm"),
        (["der Film war besser als das, was ich von ihm gehört hatte"] * 3, ""),
        (["这部电影比我听说的要好得多。"] * 3, ""),
        ([], ""),
    ],
)
def test_a_published_start_knows_the_language(texts, start):
    assert published_start(texts) == start


def test_lower_layers_learn_slower(tmp_path, start):
    chosen = choose([write_table(tmp_path / "reviews.csv")], tmp_path / "run", start=start)
    assert 0 < chosen.recipe["training"]["tuning"]["layer_decay"] < 1


def test_shapes_stand_in_for_capitals_that_a_vocabulary_lacks(tmp_path, start):
    chosen = replace(choose([write_table(tmp_path / "t.csv")], tmp_path / "run"), without_capitals={"shapes": True})
    tokenizer = open_folder(start).preprocessing.tokenizer
    cased = tokenizer.encode("Ada").ids != tokenizer.encode("ada").ids
    assert begin_with(chosen, open_folder(start)).recipe["data"].get("shapes", False) is not cased
