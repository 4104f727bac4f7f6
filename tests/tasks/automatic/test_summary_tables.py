"""Somebody's texts and summaries become a recipe; a table of labels stays one; no near copy of the test is learned."""

import csv
import json

import pytest

from clearformer.cli.main import main
from clearformer.data.readers.summary_pairs import SummaryPair
from clearformer.data.readers.tables import LabelledError
from clearformer.run.automatic import choose, recognise
from clearformer.run.recipe import parse_recipe, read_recipe
from clearformer.tasks.automatic import summary_tables

WORDS = [f"{letter}{letter}a" for letter in "bcdfghjklmnpqrstvwx"]


def row(number):
    return [f"{' '.join(f'{word}{number}' for word in WORDS)} is what mail {number} says.", f"mail number {number}"]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mails.csv"
    with path.open("w", newline="") as opened:
        csv.writer(opened, lineterminator="\n").writerows([["mail", "subject"], *map(row, range(60))])
    return path


def test_a_table_is_told_from_one_of_labels(file, tmp_path):
    found = recognise([file])
    assert found.task.name == "summarization"
    assert found.words == "texts with summaries: text in column mail, summary in column subject"
    labels = tmp_path / "labels.csv"
    labels.write_text("text,label\n" + "".join(f"film {n} was a good one,{'ab'[n % 2]}\n" for n in range(60)))
    assert recognise([labels]).task.name == "text-classification"
    titles = tmp_path / "titles.csv"
    titles.write_text("title,label\n" + "".join(f"news of the day {n},{'ab'[n % 2]}\n" for n in range(60)))
    assert recognise([titles]).task.name == "text-classification"


def test_every_choice_has_a_reason_and_the_recipe_can_be_read(file, tmp_path):
    chosen = choose([file], tmp_path / "run")
    assert all(choice.reason for choice in chosen.choices)
    recipe = read_recipe(tmp_path / "run" / "recipe.toml")
    assert recipe.task == "summarization"
    assert parse_recipe(chosen.recipe, "chosen") == recipe
    parts = {
        name: (tmp_path / "run" / "data" / f"{name}.jsonl").read_text().splitlines()
        for name in ("train", "dev", "test")
    }
    texts = [json.loads(line)["text"] for lines in parts.values() for line in lines]
    assert len(set(texts)) == len(texts) == 60
    assert summary_tables.example(tmp_path / "run") in texts
    assert summary_tables.run_name([file]) == "mails"


def test_near_copies_of_what_is_held_out_are_not_learned_from():
    rows = [SummaryPair(text, summary) for text, summary in map(row, range(40))]
    copies = [one._replace(text=f"{one.text} indeed") for one in rows]
    parts, removed = summary_tables.divide([*rows, *copies])
    held = {one.text.removesuffix(" indeed") for name in ("dev", "test") for one in parts[name]}
    assert removed
    assert not held & {one.text.removesuffix(" indeed") for one in parts["train"]}


def test_the_doctor_says_what_it_is(file, capsys):
    assert main(["doctor", str(file)]) == 0
    assert "60 texts of" in capsys.readouterr().out


def test_what_has_no_summaries_is_refused_by_name(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("text,label\n" + "".join(f"film {n} was fine,{'ab'[n % 2]}\n" for n in range(30)))
    with pytest.raises(LabelledError, match="call the columns text and summary"):
        summary_tables.examine([path])
