"""From a table of labelled texts to a recipe: columns found, classes held out alike, choices with reasons."""

import json
import tomllib

import pytest

from clearformer.data.readers.labelled import LabelledText
from clearformer.foundation import settings
from clearformer.run.recipe import parse_recipe
from clearformer.tasks.automatic.labelled_tables import AUTOMATIC, choose, example, from_rows, recognise

WORDS = ("film", "story", "plot", "music", "actor")


def table(path, counts, *, heading="review,stars\n"):
    """So many texts of each class; every text is another."""
    lines = [
        f"the {WORDS[n % 5]} number {n} of {label} was seen again and again,{label}\n"
        for label, count in counts.items()
        for n in range(count)
    ]
    path.write_text(heading + "".join(lines), encoding="utf-8")
    return path


def rows(count, *, text="the film was seen again", classes=2):
    return [LabelledText(text=f"{text} {n}", label=f"c{n % classes}", line=n, second=None) for n in range(count)]


@pytest.mark.parametrize("count", [30, 3_000, 30_000, 60_000])
def test_every_scale_has_a_recipe_that_reads_back(count):
    plain, choices = from_rows(rows(count), name="made", pairs=False)
    recipe = parse_recipe(tomllib.loads(settings.to_toml(plain)), "made")
    assert recipe.task == "text-classification"
    assert recipe.training.schedule.warmup < 1
    assert recipe.model["max_len"] >= recipe.data.max_length
    assert recipe.training.batch_tokens >= recipe.data.max_length
    assert all(choice.value and choice.reason for choice in choices)


def test_unspaced_texts_are_read_by_character():
    plain, _ = from_rows(rows(100, text="这部电影很好看"), name="made", pairs=False)
    assert plain["data"]["vocabulary"]["kind"] == "character"


def test_pairs_keep_their_second_text():
    plain, _ = from_rows(rows(100), name="made", pairs=True)
    assert plain["data"]["second"] == "second"


def test_a_table_is_split_by_class_and_no_text_is_in_two_parts(tmp_path):
    path = table(tmp_path / "reviews.csv", {"good": 100, "bad": 50, "odd": 10})
    with path.open("a") as file:  # some come again
        file.writelines(f"the film number {n} of good was seen again and again,good\n" for n in range(0, 50, 5))
    chosen = choose([path], tmp_path / "run")
    parts = {
        part: [json.loads(line) for line in (tmp_path / "run" / "data" / f"{part}.jsonl").read_text().splitlines()]
        for part in ("train", "dev", "test")
    }
    assert sum(map(len, parts.values())) == 170
    texts = {part: {record["text"] for record in records} for part, records in parts.items()}
    assert not texts["train"] & (texts["dev"] | texts["test"])
    assert not texts["dev"] & texts["test"]
    for part in ("dev", "test"):
        assert {record["label"] for record in parts[part]} == {"good", "bad", "odd"}
    recipe = parse_recipe(chosen.recipe, "made")
    assert recipe.objective.balance > 0  # ten of one class, a hundred of another
    assert recipe.name == AUTOMATIC.name([path]) == "reviews"
    assert example(tmp_path / "run") in texts["test"]
    assert "160 texts" in chosen.report or "170 texts" in chosen.report


def test_what_cannot_be_trained_on_is_refused_before_anything_is_made(tmp_path):
    with pytest.raises(ValueError, match=r"few\.csv has 4 texts, but at least 20 are needed"):
        choose([table(tmp_path / "few.csv", {"good": 2, "bad": 2})], tmp_path / "run")
    with pytest.raises(ValueError, match=r"one\.csv: there is only one label, so there is nothing to tell apart"):
        choose([table(tmp_path / "one.csv", {"good": 40})], tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_tables_are_recognised(tmp_path):
    path = table(tmp_path / "reviews.csv", {"good": 20, "bad": 20})
    assert recognise([path]) == "texts with labels: text in column review, label in column stars"
    assert recognise([path, path]) is None
    (tmp_path / "book.txt").write_text("text\n")
    assert recognise([tmp_path / "book.txt"]) is None
    assert not AUTOMATIC.examine([path]).fatal
