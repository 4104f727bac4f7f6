"""Several labels and numbers: trained, scored, used and reported, as the folder says."""

import json
import random

import pytest

import clearformer as cf
from clearformer.folder.description import open_folder
from clearformer.run.evaluation import evaluate, report
from clearformer.run.train import train
from tasks.test_text_classes import FILLERS, recipe

MOODS = {"glad": "lovely", "sad": "awful", "odd": "strange"}


def write_sets(path, rows, seed=1):
    """Each of three words brings its label; a text may have none."""
    draw = random.Random(seed)
    lines = ["labels\ttext"]
    for _ in range(rows):
        chosen = draw.sample(list(MOODS), draw.randrange(4))
        words = [*draw.choices(FILLERS, k=5), *(MOODS[one] for one in chosen)]
        draw.shuffle(words)
        lines.append(f"{'|'.join(chosen)}\t{' '.join(words)}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_numbers(path, rows, seed=1):
    """The number is how often a word occurs, give or take a little."""
    draw = random.Random(seed)
    lines = ["score\ttext"]
    for _ in range(rows):
        count = draw.randrange(6)
        words = [*draw.choices(FILLERS, k=8 - count), *["lovely"] * count]
        draw.shuffle(words)
        lines.append(f"{count + draw.uniform(-0.2, 0.2):.3f}\t{' '.join(words)}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    write_sets(folder / "train.tsv", 500)
    return train(recipe({"data.kind": "several", "training.steps": 300}), folder / "run", base=folder)


def test_several_labels_are_learned_and_given(sets, tmp_path):
    scores = evaluate(sets, [write_sets(tmp_path / "test.tsv", 100, seed=2)])
    assert scores["micro_f1"] > 0.9
    assert {"macro_f1_low", "subset_accuracy_high"} <= scores.keys()
    both, none = cf.load(sets).classify(["the lovely film was strange", "the film was a story"])
    assert "glad" in both.labels
    assert "sad" not in both.labels
    assert len(none.labels) < 2


def test_the_threshold_was_chosen_on_dev_and_lies_in_the_folder(sets):
    told = open_folder(sets).description.preprocessing["outcome"]
    assert told["kind"] == "several"
    assert 0 < told["threshold"] < 1
    found = cf.load(sets).classify("lovely awful")[0]
    assert set(found.labels) == {name for name, share in found.scores.items() if share >= told["threshold"]}


def test_a_report_of_several_labels_names_each_wrong_one(sets, tmp_path):
    path = write_sets(tmp_path / "test.tsv", 60, seed=3)
    path.write_text(path.read_text() + "sad\tthe lovely film\n")
    found = report(sets, [path])
    wrong = {(one.found, one.wanted) for one in found.mistakes if one.place.endswith(":62")}
    assert wrong == {("glad", "no glad"), ("no sad", "sad")}
    assert {one.name for one in found.classes} == set(MOODS)


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("numbers")
    write_numbers(folder / "train.tsv", 500)
    return train(recipe({"data.kind": "number", "training.steps": 120}), folder / "run", base=folder)


def test_numbers_are_learned_in_their_own_unit(numbers, tmp_path):
    scores = evaluate(numbers, [write_numbers(tmp_path / "test.tsv", 100, seed=2)])
    assert scores["spearman"] > 0.8
    assert scores["mean_error"] < 1.0
    classifier = cf.load(numbers)
    few, many = classifier.estimate(["the film was a story", "lovely lovely lovely lovely film"])
    assert few.number < 1.5 < 2.5 < many.number
    with pytest.raises(ValueError, match="gives a number to each text and no class; use `estimate`"):
        classifier.classify("lovely")


def test_a_report_of_numbers_names_those_that_are_farthest_off(numbers, tmp_path):
    path = write_numbers(tmp_path / "test.tsv", 30, seed=3)
    path.write_text(path.read_text() + "99\tthe film was dull\n")
    found = report(numbers, [path])
    assert "test.tsv:32" in found.notes[2]
    json.dumps(found.plain())


def test_what_is_no_number_is_refused_by_its_line(numbers, tmp_path):
    path = write_numbers(tmp_path / "test.tsv", 3)
    path.write_text(path.read_text() + "many\tthe film\n")
    with pytest.raises(ValueError, match=r"test\.tsv, line 5 has 'many' in column 'score': write a number"):
        evaluate(numbers, [path])
