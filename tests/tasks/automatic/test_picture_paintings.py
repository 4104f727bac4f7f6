"""A folder of classes becomes a painter's recipe when that is asked for."""

from clearformer.run.automatic import choose, recognise
from clearformer.run.recipe import read_recipe
from tasks.automatic.test_picture_codes import pictures


def test_a_painter_is_chosen_with_reasons(tmp_path):
    files = pictures(tmp_path)
    assert recognise(files).task.name == "picture-classification"
    assert recognise(files, "painting").task.name == "painting"
    chosen = choose(files, tmp_path / "run", "painting")
    assert all(choice.reason for choice in chosen.choices)
    recipe = read_recipe(tmp_path / "run" / "recipe.toml")
    assert (recipe.task, recipe.name, recipe.data.way, recipe.data.size) == ("painting", "paint-digits", "flow", 8)
    assert recipe.model["front"]["patch"] == 1
