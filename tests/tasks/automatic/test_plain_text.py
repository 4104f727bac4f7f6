"""From a text file to a recipe for a language model: choices with reasons, and an end that training never sees."""

import tomllib

import pytest

from clearformer.foundation import settings
from clearformer.run.recipe import parse_recipe
from clearformer.tasks.automatic.plain_text import AUTOMATIC, choose, example, from_length, recognise
from clearformer.tasks.model_section import model_config
from flows.tiny_tasks import prose

SCALES = (10_000, 100_000, 1_000_000, 10_000_000, 1_000_000_000)


@pytest.fixture
def book(tmp_path):
    path = tmp_path / "book.txt"
    path.write_text(prose(600), encoding="utf-8")
    return path


@pytest.mark.parametrize("characters", SCALES)
def test_every_scale_has_a_recipe_that_reads_back_and_builds(characters):
    plain, choices = from_length(characters, 80, name="made")
    recipe = parse_recipe(tomllib.loads(settings.to_toml(plain)), "made")
    assert recipe.task == "language-model"
    assert recipe.training.schedule.warmup < 1
    config = model_config(recipe.model, {"vocab_size": recipe.data.vocabulary.vocab_size})
    assert config.max_len >= recipe.data.context
    assert all(choice.value and choice.reason for choice in choices)
    assert {choice.what for choice in choices} >= {"vocabulary", "model", "context", "dropout", "steps"}


def test_more_text_means_a_larger_model_and_less_dropout():
    recipes = [from_length(characters, 80, name="made")[0] for characters in SCALES]
    widths = [recipe["model"]["dim"] for recipe in recipes]
    assert widths == sorted(widths)
    dropout = [recipe["model"]["dropout"]["residual"] for recipe in recipes]
    assert dropout == sorted(dropout, reverse=True)


def test_a_text_is_split_into_its_beginning_and_two_parts_of_its_end(book, tmp_path):
    chosen = choose([book], tmp_path / "run")
    parts = [
        (tmp_path / "run" / "data" / f"{name}.txt").read_text(encoding="utf-8") for name in ("train", "dev", "test")
    ]
    assert "".join(parts) == book.read_text(encoding="utf-8")
    assert [round(len(part) / len("".join(parts)), 2) for part in parts] == [0.9, 0.05, 0.05]
    assert chosen.recipe["data"]["train"] == "data/train.txt"
    assert chosen.recipe["name"] == AUTOMATIC.name([book]) == "book"
    assert chosen.choices[0].what == "held out"
    assert chosen.report
    assert parts[2].startswith(example(tmp_path / "run")[:10])


def test_no_part_begins_or_ends_inside_a_line(book, tmp_path):
    choose([book], tmp_path / "run")
    for name in ("train", "dev", "test"):
        assert (tmp_path / "run" / "data" / f"{name}.txt").read_text(encoding="utf-8").endswith(".\n")
    endless = tmp_path / "endless.txt"
    endless.write_text("snow " * 4000)
    choose([endless], tmp_path / "other")
    assert len((tmp_path / "other" / "data" / "train.txt").read_text()) == 18_001


def test_pieces_of_a_script_without_spaces_are_short(tmp_path):
    """As many characters of Chinese are more tokens, so that fewer passes take as many steps or more."""
    spaced, unspaced = (from_length(10_000_000, 3000, name="made", unspaced=one)[0] for one in (False, True))
    assert unspaced["training"]["steps"] > spaced["training"]["steps"]
    assert unspaced["data"] == spaced["data"]


def test_too_little_text_is_refused_with_both_numbers(tmp_path):
    path = tmp_path / "note.txt"
    path.write_text("short\n")
    with pytest.raises(ValueError, match=r"note\.txt has 6 characters, but a language model needs at least 10,000"):
        choose([path], tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_text_is_recognised_and_other_things_are_not(book, tmp_path):
    assert recognise([book]) == "running text, for a language model"
    assert recognise([book, book]) is None
    assert recognise([tmp_path]) is None
    for name in ("table.csv", "records.jsonl", "picture.png"):
        (tmp_path / name).touch()
        assert recognise([tmp_path / name]) is None
    (tmp_path / "book.md.gz").touch()
    assert recognise([tmp_path / "book.md.gz"]) is not None


def test_the_doctor_looks_at_a_text(book):
    with book.open("ab") as file:
        file.write(b"\xff\xfe broken\n")
    report = AUTOMATIC.examine([book])
    assert "601" in report.to_text()
    assert report.fatal
