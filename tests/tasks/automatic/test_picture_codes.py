"""A folder of pictures becomes an autoencoder's recipe when that is asked for, and a classifier's otherwise."""

import numpy as np
from PIL import Image

from clearformer.run.automatic import choose, recognise
from clearformer.run.recipe import read_recipe
from clearformer.tasks.automatic import picture_codes
from flows.tiny_tasks import SHAPES, draw


def pictures(folder):
    generator = np.random.default_rng(1)
    for digit in SHAPES:
        (folder / "digits" / str(digit)).mkdir(parents=True)
        for number in range(12):
            Image.fromarray(draw(digit, generator)).save(folder / "digits" / str(digit) / f"{number}.png")
    return [folder / "digits"]


def test_it_is_taken_for_classes_unless_codes_are_asked_for(tmp_path):
    files = pictures(tmp_path)
    assert recognise(files).task.name == "picture-classification"
    found = recognise(files, "autoencoding")
    assert (found.task.name, found.words) == ("autoencoding", "pictures in 3 folders, to be compressed")
    assert picture_codes.recognise([tmp_path / "digits" / "0"]) is None


def test_every_choice_has_a_reason_and_the_recipe_reads(tmp_path):
    files = pictures(tmp_path)
    chosen = choose(files, tmp_path / "run", "autoencoding")
    assert all(choice.reason for choice in chosen.choices)
    recipe = read_recipe(tmp_path / "run" / "recipe.toml")
    assert (recipe.task, recipe.name, recipe.data.size) == ("autoencoding", "digits-code", 8)
    assert recipe.model["bottleneck"] == picture_codes.CODE
