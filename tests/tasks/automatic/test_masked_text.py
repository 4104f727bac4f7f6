"""From a text file to a recipe for a masked language model: choices with reasons, and an end that is never seen."""

import tomllib

import pytest

from clearformer.foundation import settings
from clearformer.run.automatic import recognise as recognise_any
from clearformer.run.recipe import parse_recipe
from clearformer.tasks.automatic.masked_text import AUTOMATIC, choose, example, from_lines, recognise
from clearformer.tasks.model_section import model_config
from flows.tiny_tasks import prose

SCALES = (400, 4_000, 200_000)


@pytest.fixture
def book(tmp_path):
    path = tmp_path / "book.txt"
    path.write_text(prose(600), encoding="utf-8")
    return path


@pytest.mark.parametrize("lines", SCALES)
def test_every_scale_has_a_recipe_that_reads_back_and_builds(lines):
    plain, choices = from_lines(["the old dog sees a cat in the snow .\n"] * lines, name="made")
    recipe = parse_recipe(tomllib.loads(settings.to_toml(plain)), "made")
    config = model_config(recipe.model, {"vocab_size": 100, "head": {"kind": "language-model"}})
    assert config.max_len >= recipe.data.max_length
    assert all(choice.value and choice.reason for choice in choices)
    assert {choice.what for choice in choices} >= {"vocabulary", "hidden", "model", "length", "steps"}


def test_more_text_means_a_larger_model():
    widths = [from_lines(["the old dog sees a cat .\n"] * lines, name="m")[0]["model"]["dim"] for lines in SCALES]
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]


def test_chinese_is_read_by_character():
    plain, _ = from_lines(["我们都喜欢这本书，写得很好。"] * 100, name="made")
    assert plain["data"]["vocabulary"]["kind"] == "character"


def test_a_text_is_split_by_lines_and_nothing_is_lost(book, tmp_path):
    chosen = choose([book], tmp_path / "run")
    parts = [(tmp_path / "run" / "data" / f"{name}.txt").read_text() for name in ("train", "dev", "test")]
    assert "".join(parts) == book.read_text()
    assert [part.count("\n") for part in parts] == [540, 30, 30]
    assert chosen.recipe["name"] == AUTOMATIC.name([book]) == "book"
    shown = example(tmp_path / "run")
    assert shown.count("[MASK]") == 1
    before, after = shown.split("[MASK]")
    assert any(line.startswith(before) and after in line for line in parts[2].splitlines())


def test_running_text_is_a_language_model_unless_somebody_asks(book):
    assert recognise_any([book]).task.name == "language-model"
    assert recognise_any([book], "masked-words").words == "running text, for a masked language model"
    assert recognise([book.parent]) is None


def test_too_little_text_is_refused_with_both_numbers(tmp_path):
    path = tmp_path / "note.txt"
    path.write_text("short\n")
    with pytest.raises(ValueError, match=r"note\.txt has 5 characters in 1 lines, but a masked language model needs"):
        choose([path], tmp_path / "run")
    assert not (tmp_path / "run").exists()
