"""From a folder of pictures to a recipe: the same share of each class, links instead of copies, damage by name."""

import tomllib

import numpy as np
import pytest
from PIL import Image

from clearformer.foundation import settings
from clearformer.run.recipe import parse_recipe
from clearformer.tasks.automatic.picture_folders import AUTOMATIC, choose, examine, example, in_patches, recognise
from flows.tiny_tasks import SHAPES, draw


@pytest.fixture
def folder(tmp_path):
    """Thirty PNGs of three digits, sixteen pixels wide."""
    generator = np.random.default_rng(1)
    for digit in SHAPES:
        (tmp_path / "digits" / str(digit)).mkdir(parents=True)
        for number in range(10):
            pixels = np.kron(draw(digit, generator), np.ones((2, 2), dtype=np.uint8))
            Image.fromarray(pixels).save(tmp_path / "digits" / str(digit) / f"{number}.png")
    return tmp_path / "digits"


def test_every_class_is_held_out_alike_and_no_picture_is_in_two_parts(folder, tmp_path):
    chosen = choose([folder], tmp_path / "run")
    parts = {
        part: {path.resolve() for path in (tmp_path / "run" / "data" / part).rglob("*.png")}
        for part in ("train", "dev", "test")
    }
    assert {part: len(files) for part, files in parts.items()} == {"train": 24, "dev": 3, "test": 3}
    assert set.union(*parts.values()) == {path.resolve() for path in folder.rglob("*.png")}
    for part in parts.values():
        labels = [path.parent.name for path in part]
        assert {labels.count(label) for label in ("0", "1", "7")} == {len(part) // 3}
    recipe = parse_recipe(tomllib.loads(settings.to_toml(chosen.recipe)), "made")
    assert (recipe.task, recipe.data.size, recipe.data.channels) == ("picture-classification", 16, 1)
    assert 16 % recipe.model["front"]["patch"] == 0
    assert all(choice.value and choice.reason for choice in chosen.choices)
    assert example(tmp_path / "run").startswith(str(tmp_path / "run" / "data" / "test"))
    assert AUTOMATIC.name([folder]) == "digits"


@pytest.mark.parametrize("side", range(8, 65))
def test_patches_fill_the_picture_and_are_at_most_eight_across(side):
    fitted, patch = in_patches(side)
    assert side - patch < fitted <= side
    assert fitted % patch == 0
    assert 4 <= fitted // patch <= 8
    assert patch & (patch - 1) == 0


def test_a_folder_is_recognised_by_its_subfolders(folder, tmp_path):
    assert recognise([folder]) == "pictures in 3 classes, one per subfolder"
    assert recognise([folder / "0"]) is None
    assert recognise([folder, folder]) is None
    (tmp_path / "one" / "cats").mkdir(parents=True)
    assert recognise([tmp_path / "one"]) is None


def test_a_sound_folder_has_nothing_to_report(folder):
    report = examine([folder])
    assert not report.fatal
    assert "30 pictures in 3 classes" in report.to_text()
    assert "nothing found" in report.to_text()


def test_what_is_wrong_stops_the_choice_by_name(folder, tmp_path):
    (folder / "0" / "broken.png").write_bytes(b"not a picture")
    assert examine([folder]).fatal
    with pytest.raises(ValueError, match=r"broken\.png"):
        choose([folder], tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_parts_that_somebody_made_stay_as_they_are(folder, tmp_path):
    """Only what is missing is held out, and of the training part."""
    divided = tmp_path / "divided"
    for part, numbers in (("train", range(9)), ("test", [9])):
        for digit in SHAPES:
            (divided / part / str(digit)).mkdir(parents=True)
            for number in numbers:
                name = f"{digit}/{number}.png"
                (divided / part / name).write_bytes((folder / name).read_bytes())
    assert recognise([divided]) == "pictures in 3 classes, one per subfolder, divided into train and test"
    chosen = choose([divided], tmp_path / "run")
    linked = {part: list((tmp_path / "run" / "data" / part).rglob("*.png")) for part in ("train", "dev", "test")}
    assert {part: len(files) for part, files in linked.items()} == {"train": 24, "dev": 3, "test": 3}
    assert {path.resolve().parts[-3] for path in linked["test"]} == {"test"}
    assert {path.resolve().parts[-3] for path in linked["dev"]} == {"train"}
    assert "its own part for test" in chosen.choices[0].reason


def test_a_picture_under_two_names_is_not_in_two_parts(folder, tmp_path):
    """The same bytes in training and in the test would measure memory."""
    for number in range(10):
        (folder / "0" / f"copy{number}.png").write_bytes((folder / "0" / f"{number}.png").read_bytes())
    choose([folder], tmp_path / "run")
    parts = [
        {path.read_bytes() for path in (tmp_path / "run" / "data" / part).rglob("*.png")}
        for part in ("train", "dev", "test")
    ]
    assert not parts[0] & parts[1]
    assert not parts[0] & parts[2]
    assert not parts[1] & parts[2]


def test_a_near_copy_is_not_in_another_part(folder, tmp_path):
    """A picture saved again as a JPEG is no other picture."""
    for path in list(folder.rglob("*.png")):
        Image.open(path).convert("RGB").save(path.with_suffix(".jpg"), quality=98)
    choose([folder], tmp_path / "run")
    for part in ("train", "dev", "test"):
        linked = list((tmp_path / "run" / "data" / part).rglob("*.*"))
        stems = [(path.parent.name, path.stem) for path in linked if path.is_file()]
        assert len(stems) == 2 * len(set(stems))


def test_a_second_choice_forgets_the_first(folder, tmp_path):
    choose([folder], tmp_path / "run")
    for path in folder.rglob("[5-9].png"):
        path.unlink()
    choose([folder], tmp_path / "run")
    linked = list((tmp_path / "run" / "data").rglob("*.png"))
    assert len(linked) == 15
    assert all(path.exists() for path in linked)
