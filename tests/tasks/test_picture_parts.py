"""Parts of pictures: whatever names them, the same pictures come out, and what is held out is not learned from."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from clearformer.data.readers.pictures import PictureError
from clearformer.folder.description import ModelFolder, open_folder
from clearformer.run.recipe import read_recipe
from clearformer.run.train import train
from clearformer.tasks.picture_data import PictureFiles
from clearformer.tasks.picture_parts import (
    evaluated_part,
    gather,
    pixel_table,
    read_part,
    training_part,
)
from clearformer.tasks.task import Workspace
from flows.tiny_tasks import drawn, write_codes, write_idx


@pytest.fixture
def files(tmp_path):
    """The same pictures as idx files, as a folder of classes, and as a folder of pictures."""
    pictures, digits = drawn(20)
    write_idx(tmp_path / "pictures.idx", pictures)
    write_idx(tmp_path / "digits.idx", digits)
    for number, (pixels, digit) in enumerate(zip(pictures, digits, strict=True)):
        for folder in (tmp_path / "classes" / str(digit), tmp_path / "flat"):
            folder.mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels).save(folder / f"{number:03}.png")
    return tmp_path


def test_pictures_are_the_same_wherever_they_stand(files):
    pair = list(read_part(files / "pictures.idx", files / "digits.idx"))
    alone, flat = list(read_part(files / "pictures.idx")), list(read_part(files / "flat"))
    classes = list(read_part(files / "classes"))
    assert [one.pixels.tobytes() for one in pair] == [one.pixels.tobytes() for one in alone]
    assert [one.pixels.tobytes() for one in pair] == [one.pixels.tobytes() for one in flat]
    assert {one.label for one in (*alone, *flat)} == {""}
    assert {(one.label, one.pixels.tobytes()) for one in pair} == {(one.label, one.pixels.tobytes()) for one in classes}


def test_what_is_held_out_is_not_learned_from(files):
    data = PictureFiles(train="pictures.idx", train_labels="digits.idx", hold_out=4)
    found = gather(data, Workspace(folder=files / "out", base=files))
    assert (len(found.train), len(found.dev), len(found.held)) == (16, 4, 4)
    assert not {row[0].tobytes() for row in found.train} & {row[0].tobytes() for row in found.dev}
    assert [pixels.tobytes() for pixels in found.held.pixels] == [row[0].tobytes() for row in found.dev]
    assert [found.labels[int(row[1][0])] for row in found.dev] == found.held.labels
    assert (found.size, found.channels) == (8, 1)
    larger = gather(replace(data, size=12, channels=3), Workspace(folder=files / "two", base=files))
    assert larger.held.pixels[0].shape == (12, 12, 3)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"train": "digits.idx"}, r"digits\.idx holds no pictures, but numbers in 1 dimensions"),
        ({"train": "empty"}, "empty holds no pictures"),
        ({"train": "broken.idx"}, r"broken\.idx is not an idx file of bytes"),
        ({"train": "short.idx"}, r"short\.idx does not hold the 1,280 bytes that its header says"),
    ],
)
def test_hostile_files_are_named(files, data, message):
    (files / "empty").mkdir()
    (files / "broken.idx").write_bytes(b"no picture")
    (files / "short.idx").write_bytes((files / "pictures.idx").read_bytes()[:-3])
    with pytest.raises(ValueError, match=message):
        gather(PictureFiles(**data), Workspace(folder=files / "out", base=files))


@pytest.mark.parametrize("wrong", [{"channels": 2}, {"size": -1}, {"hold_out": 0}])
def test_sizes_that_cannot_be_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        PictureFiles(**wrong)


def test_a_finished_run_finds_again_what_it_learned_from(tmp_path):
    """Other pictures would make every comparison with the training part wrong; gone ones are not made up."""
    recipe = read_recipe(write_codes(tmp_path), ["training.steps=1", "training.save_every=1"])
    model = open_folder(train(recipe, tmp_path / "run", base=tmp_path))
    learned = training_part(model)
    found = gather(recipe.data, Workspace(folder=tmp_path / "again", base=tmp_path))
    assert {pixels.tobytes() for pixels in learned.pixels} == {row[0].tobytes() for row in found.train}
    assert pixel_table(learned).shape == (78, 64)
    assert 0 <= pixel_table(learned).min() <= pixel_table(learned).max() <= 1
    (tmp_path / "pictures.idx").unlink()
    assert training_part(model) is None


def test_a_test_set_comes_in_the_model_s_size(files, tmp_path):
    recipe = read_recipe(write_codes(tmp_path / "data"), ["training.steps=1", "training.save_every=1", "data.size=4"])
    model: ModelFolder = open_folder(train(recipe, tmp_path / "run", base=tmp_path / "data"))
    part = evaluated_part([files / "classes"], model)
    assert {pixels.shape for pixels in part.pixels} == {(4, 4, 1)}
    assert len(part.first(3)) == 3
    with pytest.raises(ValueError, match="is one file too many"):
        evaluated_part([files / "pictures.idx"] * 3, model)
    with pytest.raises(PictureError, match="are not pictures and labels, in this order"):
        evaluated_part([files / "digits.idx", files / "pictures.idx"], model)
    assert np.array_equal(part.first(1).pixels[0], part.pixels[0])
